"""What the page of the comparison says besides figures: facts about peers, limits, and how to read its tables."""

from pathlib import Path
from typing import Final

from arms import PER_COMPLETION_TOKEN, PER_PROMPT_TOKEN

HERE: Final = Path(__file__).parent
TITLE: Final = "Corrective RAG side by side"
REFERENCE: Final = "corrective_rag"
CALIBRATED: Final = "cascade_rag_calibrated"
SHORT: Final = """For whoever weighs this package against Haystack's LLMRanker, LangGraph, LlamaIndex or plain RAG, at
    ten retrieved documents (k = 10). Calls, seconds (medians) and costs are with right grades, at 0.3 s for each call
    and a time for each token. Quality is with one grade and one answer in ten wrong, and the last column with a model
    that hangs when it judges. The chat model is a script that grades by the labels of the data. What that cannot show
    stands at the end of this page, and where peers are better before it."""
SIDES: Final = {"ours": "this package", "peer": "a peer", "plain": "plain RAG"}
MOST_FAILED: Final = 0.1
FAULT_NAMES: Final = {
    "garbage": "judging replies are prose",
    "cut": "judging replies are cut",
    "web_down": "the web is down",
    "gap": "no answering document",
    "nothing": "nothing on topic",
    "nowhere": "nor on the web",
    "injected": "instruction in a document",
    "hang": "judging calls hang",
}
FACTS: Final = {
    "haystack_llm_ranker": """Seen with haystack-ai 3.4.0, before this comparison: one call ranks any number of
        documents and drops those that are not relevant; Haystack had this before this package. An empty list in the
        reply means that no document is relevant. A reply in a code fence, prose, an index out of range or an empty
        reply lets all documents through, with a warning in the log. An index named three times returns its document
        three times. There are no scores, labels or reasons.""",
    "haystack_web_fallback": """From source: one call if the documents answer; two calls and a web search if the
        model replies with the agreed word. Nothing is graded, so no call is spent on grading.""",
    "langgraph_crag": """From source: the example says that it is archived and no longer updated. One irrelevant
        document sends the question to the web. Only the exact word "yes" counts as a positive grade. There is no
        threshold, no refinement and no loop. The framework offers checkpoints, token streaming from each node, and
        tracing. From its code: the rewritten question replaces the user's, also for the answer.""",
    "langgraph_adaptive": """From source: the only system here that checks an answer after it was written: whether it is
        grounded, and whether it resolves the question. Seen with langgraph 1.2.22, before this comparison, at k = 4 and
        nothing relevant in the corpus: 40 calls at a recursion limit of 25, 165 at 100, 1,665 at 1,000, each time
        ending in GraphRecursionError without an answer. The default limit of that version is 10,007.""",
    "llamaindex_pack": """From source: the answer is written for the user's own question; only the web is asked with
        the rewritten one. Grades are free text. From its code: if the grader says "Yes." instead of "yes" for every
        document, there is no web search and no call for an answer, and the answer is "Empty Response". The pack's
        class of release 0.3.1 raises an exception in a plain program.""",
}
LIMITS: Final = (
    """The chat model is a script. It grades by the labels of the data. A fixed share of grades is wrong, for the
    same documents in every system and every prompt form. A fixed share of answers is wrong, too: the script
    overlooks what the documents say, or makes an answer up. It does so at the same questions in every system,
    whatever the prompt shows. Other documents for the same question are another chance, the same ones are not. A real
    model may grade many documents in one prompt less well than one at a time. That would count against the systems
    that grade in one call, this package's among them, and is not measured here.""",
    """Without errors, the script always admits that it does not know. Wrong answers are then answers that appear in
    other documents by accident, and obeyed instructions. Both are lower bounds of what a real model does.""",
    """The script obeys an instruction in a document unless it is inside tags with a random name. This rule stands for
    a gullible model and favours systems with such tags. It measures no real model.""",
    """With right grades, a system that lets the answering model say that it cannot answer (tutorial 36) decides
    almost without error, because the script knows that, too. A real model does not always know. How often it errs in
    grading and in admitting is not known here, so both shares are equal.""",
    """A rewritten question is the question with two more words, so loops and rewriting recover hardly anything.""",
    """Evidence suffices: a system that asks the web as soon as one document is irrelevant, and then answers from
    both, decides wrongly by this measure if an answering document was there. Its answers can still be right.""",
    """The web is a keyword search over the same corpus, instant and without junk. It has what is missing from the
    corpus, except under "nor on the web". So systems that may ask the web can answer if the answering documents are
    missing, and those without can at best abstain.""",
    """Judging replies that are prose or cut are produced on purpose, whatever format the request asks for. Providers
    that enforce a schema rarely send such replies.""",
    """Wall times were measured on a machine shared with other work, at times with other runs of this comparison, for
    few questions, one at a time, with model and systems on the same processors. The time per token is chosen, not
    measured at a provider. They say nothing about load. Examples that grade one document after another would take
    about the time of one call if they graded concurrently, with the same calls and tokens.""",
    """Tokens and costs are those of Tekken, the tokenizer of Mistral's models, also where the price is of a model with
    another one. The time that tokens take goes by another count, words and punctuation, which makes less of ids and
    markup. The peers' prompts are reworded, so their prompt tokens differ from those of the originals.""",
    """The questions are those whose answer appears word for word in a labelled document, or that the corpus does not
    answer. Designs with ‡ use models that were fitted on the half of the data that the questions are from: they have
    seen these questions, and do worse on others. The calibrated design has not seen them. Its labels come from the same
    annotators as those that judge here, and its questions are of the same kind, which is what calibration is for.""",
    """The authors of this package wrote the comparison. It runs many designs of theirs against one form of each peer,
    and the best of many is favoured. So each peer is also compared with one design alone.""",
    """Services that need a key or the network (Tavily, SerperDev, an online hub of prompts, OpenAI) are replaced by
    parts of the comparison. Not run, since they need containers, model weights or services: RAGFlow, NVIDIA's RAG
    blueprint, mmore, and the code of the CRAG paper.""",
)
RULE: Final = f"""Found by a rule from the figures of this page, as they are rounded here, each measure alone: so the
    cheapest system may be the worst at answering. Some systems are not called the best: one that writes no answer (†);
    in quality and under faults, one whose model was fitted on these questions (‡); and where less is better, one that
    ended in an error, a timeout or nothing in more than {100 * MOST_FAILED:.0f} % of the questions, because asking
    little and then failing is no merit. "Ranges overlap" means that the 95 % intervals do, or for seconds the ranges of
    the middle 80 %: there the figures decide nothing."""

COMPARED: Final = """Every system got the same questions, ranked documents, model, retriever and web, from one scripted
    server on loopback, one question at a time, each system in a process of its own. LangGraph and LlamaIndex have
    environments of their own; stock Haystack runs in that of this package, with the versions in the table. k is the
    number of retrieved documents. The labels of public data decide what the model replies. There are four parts. Cost:
    all questions with a model that replies at once, to count calls, and some with a model that takes time. Tokens: the
    same questions, counted by a tokenizer. Quality: k = 10, with a share of grades and answers wrong, with and without
    the answering documents. Faults: k = 10, some questions for each fault. If a part has several commands, the later
    ones added systems or settings, on the same questions."""
CALIBRATED_SAID: Final = """Calibrated as users do it: by the functions of crag calibrate, with defaults and no limit,
    on the ranked lists and labels of each dataset. No question that is asked here was used for it. Excluded are the
    first 100 questions of a dataset in the order of the comparison, however few a part asks, and each question that
    shares a source with one of them: a labelled document, its title or the same wording, directly or through others.
    Document frequencies are those of the dataset's corpus. "Held out" is what crag calibrate reports: five folds that
    share no source, of the first five documents. "Refused" means that crag calibrate found too little in these
    questions; the set is then judged uncalibrated, as the refusal advises. No peer was given labels, since none has a
    step that takes them."""
QUALITY: Final = """k = 10, in brackets 95 % intervals (bootstrap over questions). Evidence suffices: whether the system
    answers from the retrieved documents exactly if they contain an answering one, as far as a route, a sentinel or a
    record tells it; words of an answer are not read. Three-way verdict: correct, ambiguous or incorrect, against the
    label of the list. Answer support: the share of questions with an answer that are answered while the documents of
    the last prompt contain it. Words to the generator: those of that prompt's documents. Evidence missing: the same
    questions after their answering documents were removed from list and corpus; the web, for systems that may ask it,
    still has them. Wrong answers: answers without an answering document in the prompt. An interval without width means
    only that all questions ended alike. n/a: the system has no such decision, or writes no answer."""
FAULTS_SAID: Final = """k = 10, right grades, a model that replies at once. Judging replies are prose, are cut in half,
    or hang for 30 s (a question has 60 s). The web fails. Documents are missing: those that answer, or all on topic, or
    all on topic on the web as well. One of the first three documents gives an instruction. Each cell has how the
    questions ended, the mean LLM calls, the mean web searches, and from 1 s up the median seconds."""
GOALS: Final = """The goals of this package, set before anything was measured; the rows of the calibrated design were
    added later, with the same goals. Seconds are medians. If the calls per question vary, the means stand beside them,
    and what they say if it differs. Three things explain the goals that were missed. corrective_rag makes two calls
    where LangGraph makes twelve at k = 10, so 6 times is the most there is, less the work between the calls. It writes
    an entry for each document, which takes time if tokens do: 91 tokens for ten documents (Tekken), since a small real
    model could not write a form of 46. And a peer that makes one call (tutorial 36) cannot be matched at a third of its
    calls. The seconds of strict_rag and ranked_rag, and at k = 5 those of cascade_rag and agent_rag at 0.3 s a call,
    are older, with replies of 46 tokens: with 91 a grading of ten documents takes 0.2 s more if a token takes 5 ms."""
CALLS: Final = """Mean calls per question, answer included. † writes no answer, by its design. ‡ uses a model
    that was fitted on the half of the data that the questions are from."""
WALL: Final = f"""Median seconds per question, in brackets the range of the middle 80 % of the questions. Where
    questions differ in their number of calls, the mean stands beside it. Since 24 November 2026 each row of questions
    is asked in a fresh process, so that no text was read before. A call takes a + {PER_PROMPT_TOKEN:.5f} s for each
    prompt token + {PER_COMPLETION_TOKEN} s for each completion token; "flat" means a alone."""
NOTHING: Final = ("nothing",)
UNKNOWN: Final = dict.fromkeys(("cpus", "memory_gib", "system", "python"), "unknown")
