"""What the page of the comparison says besides figures: facts about peers, limits, and how to read its tables."""

from pathlib import Path
from typing import Final

from arms import PER_COMPLETION_TOKEN, PER_PROMPT_TOKEN

HERE: Final = Path(__file__).parent
TITLE: Final = "Corrective RAG side by side"
REFERENCE: Final = "corrective_rag"
CALIBRATED: Final = "cascade_rag_calibrated"
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
        documents and drops those that are not relevant; Haystack had this before this package. An empty list of
        documents is read as: none is relevant. A reply in a code fence, prose, an index out of range or an empty
        reply lets all documents through, with a warning in the log; an index named three times gives its document
        three times. It gives no scores, labels or reasons.""",
    "haystack_web_fallback": """From source: one call where the documents answer; two calls and a web search where the
        model replies the agreed word. Nothing is graded, so no call is spent on grading.""",
    "langgraph_crag": """From source: the example says of itself that it is kept as an archive and no longer updated;
        one irrelevant document sends the question to the web; of a grade only the exact word "yes" counts; there is
        no threshold, no refinement and no loop. The framework brings checkpoints, streaming of tokens from each node,
        and tracing. Its code: the rewritten question takes the place of the user's, also for the answer.""",
    "langgraph_adaptive": """From source: the only system here that checks an answer after it was written, for being
        grounded and for resolving the question. Seen with langgraph 1.2.22, before this comparison, at k = 4 and
        nothing relevant in the corpus: 40 calls at a recursion limit of 25, 165 at 100, 1,665 at 1,000, each time
        ending in GraphRecursionError without an answer. The default limit of that version is 10,007.""",
    "llamaindex_pack": """From source: the answer is written for the user's own question; only the web is asked with
        the rewritten one. Grades are free text. Its code: where the grader says "Yes." in place of "yes" for every
        document, there is no web search and no call for an answer, and the answer is "Empty Response". The pack's
        class of release 0.3.1 raises in a plain program.""",
}
LIMITS: Final = (
    """The chat model is a script. It grades by the labels of the data; a set share of grades is wrong, for the same
    documents in every system and every form of asking. A set share of answers is wrong too: what the documents say is
    not seen, or an answer is made up. The same documents bring the same error again, as at temperature 0; other
    documents are another chance. A real model may grade many documents in one prompt less well than one at a time: that
    would cost the systems that grade in one call, this package's among them; it is not seen here.""",
    """Where no error is asked for, the script always admits that it does not know. Wrong answers are then answers
    that stand in other documents by accident, and obeyed instructions: lower bounds of what a real model does.""",
    """The script obeys an instruction in a document wherever it stands outside of tags with a random name. That is a
    rule that favours systems with such tags, and a stand-in for a gullible model. It measures no real one.""",
    """With right grades a system that lets the answering model say that it cannot answer (tutorial 36) decides
    almost without error, since the script knows that, too. A real model does not always know, and how often it errs in
    grading and in admitting, is not known here: both shares are set alike.""",
    """A rewritten question is the question with two words more, so loops and rewriting hardly recover anything.""",
    """Evidence suffices: a system that asks the web as soon as one document is irrelevant, and then answers from
    both, decides wrongly by this measure where an answering document was there; its answers can still be right.""",
    """The web is a keyword search over the same corpus, at once and without junk. It holds what is missing from the
    corpus, except under "nor on the web". So systems that may ask the web can answer where the answering documents
    are missing, and those without can at best abstain.""",
    """Judging replies that are prose or cut are made on purpose, whatever form the request asks for. Providers that
    enforce a schema rarely send such replies.""",
    """Wall times are of a machine shared with other work, at times with other runs of this comparison; of few
    questions, one at a time, with model and systems on the same processors. The time for each token is chosen, not
    measured at a provider. Nothing is said about load. Examples that grade one document after another would take
    about the time of one call if they asked at once, with as many calls and tokens.""",
    """Tokens are words and marks counted by one rule, not by a model's tokenizer. Prompts of peers are in our words:
    their prompt tokens differ from those of the originals.""",
    """Questions are such whose answer stands word for word in a labelled document, or that the corpus does not
    answer. Designs with ‡ use models that were fitted on the half of the data that the questions are from: they have
    seen these questions, and do worse on others. What was calibrated has not seen them, but its labels are of the same
    makers as those that judge here, and its questions of the same kind: that is what a calibration is for.""",
    """The makers of this package wrote the comparison. It runs many designs of theirs against one form of each peer,
    and the best of many is favoured; so each peer is also held against one design alone.""",
    """Services that need a key or the network (Tavily, SerperDev, an online hub of prompts, OpenAI) are replaced by
    parts of the comparison. Not run, since they need containers, model weights or services: RAGFlow, NVIDIA's RAG
    blueprint, mmore, and the code of the CRAG paper.""",
)
RULE: Final = f"""By rule, from the figures of this page, compared as they are rounded here, each measure alone: what
    is cheapest may be worst at answering. Where less is better, a system that ended in an error, a timeout or nothing
    in more than {100 * MOST_FAILED:.0f} % of the questions is not called the best: to ask little and then fail is no
    merit. Nor is one that writes no answer (†); in quality and under faults, nor is one whose model was fitted on
    these questions (‡). "Ranges overlap" means that the 95 % intervals do, or for seconds the ranges of the middle 80
    %: there the figures decide nothing."""

COMPARED: Final = """Every system got the same questions, the same ranked documents, the same model, retriever and
    web, all from one scripted server on loopback, one question at a time, each in a process of its own. The
    packages of LangGraph and LlamaIndex are in environments of their own; stock Haystack runs in that of this
    package, with the versions that the table names. k is the number of retrieved documents. Labels of open data
    decide what the model replies. Cost: all questions with a model that replies at once, where calls and tokens are
    counted, and some with a model that takes time. Quality: k = 10, with a share of grades and answers wrong, on
    lists with and without the answering documents. Faults: k = 10, some questions for each fault. Where a part has
    several commands, each added systems or arms, on the same questions."""
CALIBRATED_SAID: Final = """As a user calibrates on questions of their own: by the functions of crag calibrate, with
    its defaults and no limit, on the ranked lists and labels that come with each set. Kept apart are the first 100
    questions of a set in the order of the comparison, however few a part asks, and with them each question that shares
    a source with one of them: a labelled document, its title, the same wording, directly or through others. So no
    question that is asked, and none about a source of one, was calibrated on; no mark is needed. Document frequencies
    are those of the set's corpus. Held out: what crag calibrate reports, five folds that share no source, of the first
    five documents. No peer was given labels: none has a step that takes them."""
QUALITY: Final = """k = 10, in brackets 95 % intervals (bootstrap over questions). Evidence suffices: the system
    answers from what was retrieved exactly when an answering document is among it, as far as a program can tell:
    from a route, a sentinel or a record, not from the words of an answer. Three-way verdict: correct, ambiguous or
    incorrect against the label of the list. Answer support: of the questions with an answer, those answered where
    the answer stands in the documents of the last prompt. Words to the generator: those of that prompt's documents.
    Evidence missing: the same questions without their answering documents in list and corpus; they are on the web,
    for systems that may ask it. Wrong answers: answered without an answering document in the prompt. An interval
    without width says that all questions asked ended alike, no more. n/a: the system has no such decision, or
    writes no answer."""
FAULTS_SAID: Final = """k = 10, right grades, a model that replies at once. Judging replies are prose, are cut in
    half, or hang for 30 s (a question has 60 s); the web fails; documents are missing: the answering ones, all on
    topic, or these on the web, too; one of the first three documents gives an instruction. Each cell: how the
    questions ended, mean LLM calls, mean searches on the web, median seconds from 1 s up."""
GOALS: Final = """What this package was to reach, set before anything was measured; the rows of the calibrated
    design were added later, with the same figures to reach. Seconds are medians; where the calls of a question vary,
    the means stand beside them, and what they say where it differs. What was missed, and why: a run of corrective_rag
    asks twice where LangGraph asks twelve times at k = 10, so 6 times is the most there is, less the work between
    the calls; it writes an entry for each document, which takes time where tokens do; and a peer that asks once
    (tutorial 36) cannot be matched at a third of its calls."""
CALLS: Final = """Mean calls of a question, the answer's included. † writes no answer, by its design. ‡ uses a model
    that was fitted on the half of the data that the questions are from."""
WALL: Final = f"""Median seconds of a question, in brackets the range of the middle 80 % of the questions; the mean
    beside it where questions did not all ask the same number of calls, since then no one value stands for all. Since
    24 November 2026 each row of questions is asked of a process started anew, so that no text was read before. A call
    takes a + {PER_PROMPT_TOKEN:.5f} s for each prompt token + {PER_COMPLETION_TOKEN} s for each completion token;
    flat: a alone."""
NOTHING: Final = ("nothing",)
UNKNOWN: Final = dict.fromkeys(("cpus", "memory_gib", "system", "python"), "unknown")
