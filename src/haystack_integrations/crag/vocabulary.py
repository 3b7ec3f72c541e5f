"""The words that components, YAML, traces and documents share. One meaning each; see the README's glossary."""

from typing import Final, Literal, get_args

META_KEY: Final = "crag"
"""Everything this package knows about a document lives in `document.meta["crag"]`, so it survives YAML and REST."""

GradeStatus = Literal["graded", "cached", "approved", "failed"]
"""`graded` by a grader, `cached` from a cache, `approved` by a rule, `failed`: no usable judgement (score 0.5)."""

GraderStatus = Literal["ok", "partial", "failed", "skipped"]
"""What became of one grading: all judged, some judged, none judged, not asked (mode `off` or no documents)."""

Verdict = Literal["correct", "ambiguous", "incorrect", "ungraded"]
"""The judgement on a whole retrieval (arXiv 2401.15884, section 4.3), plus `ungraded` for a failed judgement."""

Judged = Literal["correct", "ambiguous", "incorrect"]
"""The verdicts that say something: what labels are, and what a calibration tells apart. From best to worst."""

Action = Literal["generate", "refine", "re_retrieve", "web", "web_and_refine", "abstain"]
"""What is done about a verdict."""

OnLimit = Literal["generate", "generate_relevant", "abstain"]
"""What is done where the run's limits allow no further correction."""

Mode = Literal["enforce", "observe", "off"]
"""`enforce` acts on decisions; `observe` decides and traces, but passes evidence on unchanged; `off` does neither."""

WebStatus = Literal["ok", "denied", "empty", "failed", "cooldown", "skipped", "off"]
"""What became of the web, from best to worst: it answered; all results were on domains that are not allowed (`denied`);
it answered with nothing, failed, was left alone after a failure, was not allowed or not set up (`skipped`), or was not
to be asked (`off`)."""

AnswerStatus = Literal["none", "written", "declined", "failed"]
"""What became of an answer: no model was asked for one, it was written, the model said that the evidence does not
answer, or the model failed or had no evidence to write from."""

Lists = Literal["fixed", "live"]
"""What is evaluated: the lists that come with the data, or those that the pipeline retrieves itself."""

OtherGrader = Literal["heuristic", "evidence", "coherence", "rerank", "llm"]
"""What an evaluation can put in the place of a pipeline's own grader: a heuristic, its presets, a chat model."""

JUDGED: Final[tuple[str, ...]] = get_args(Judged)
ACTIONS: Final[tuple[str, ...]] = get_args(Action)
ON_LIMIT: Final[tuple[str, ...]] = get_args(OnLimit)
WEB_STATUSES: Final[tuple[WebStatus, ...]] = get_args(WebStatus)
MODES: Final[tuple[str, ...]] = get_args(Mode)
MODE_OFF: Final = "mode_off"
"""The rule of a run in which nothing is judged."""

NOT_GRADED: Final = "not_graded"
"""The reason why a document has no score: nobody was asked about it, or its grader gave nothing."""

GRADER_FAILED: Final = "grader_failed"
"""The rule of a verdict `ungraded` where most documents could not be judged."""

LOOP_ACTIONS: Final = frozenset({"refine", "re_retrieve", "web", "web_and_refine"})
NO_WEB: Final = ("skipped", "failed", "cooldown")
"""What becomes of a web that was to be asked, and brought no answer: that is none about the question, either."""

WEB: Final = "web"
"""Name of the strategy of queries for the web."""

WEB_ACTIONS: Final = frozenset({"web", "web_and_refine"})

FAILED_SCORE: Final = 0.5
"""The score of a document without a usable judgement: neither evidence for it nor against it."""

BUDGET_LIMITS: Final = ("llm_calls", "tokens")
"""Limits of a run's budget that a component meets before it calls a model, and names in its report as `limit`."""

GRADING_DETAILS: Final = (
    "reasks",
    "bisections",
    "canaries",
    "repaired",
    "positional",
    "unknown_ids",
    "cut",
    "structured",
    "cache_hits",
    "cache_error",
)
"""What a grader's report tells besides its cost: on its span, and in the trail."""

INDEX_EMPTY: Final = "index_empty"
FILTERS_LEAVE_NONE: Final = "filters_leave_none"
NO_VECTORS: Final = "no_vectors"
NONE_TO_SEARCH: Final = (INDEX_EMPTY, FILTERS_LEAVE_NONE, NO_VECTORS)
"""What a search reports as its `kind` where it reached all of the index, and had no document to search."""

ABSTENTION: Final = "The documents do not answer this question."
"""The first sentence of an abstention, and what a model is asked to say when the evidence does not answer."""

APOLOGY: Final = "The answer could not be written: the model failed, or the time was up."
"""What stands in the place of an answer that did not come."""

ANSWER_FAILED: Final = "crag_failure"
"""Key of a reply's metadata: the kind of failure that kept the answer from being written."""

NOT_ASKED: Final = "crag_not_asked"
"""Key of its metadata, true where no model was asked for the answer, since no time was left."""

BROKEN_OFF: Final = "crag_broken_off"
"""Key of its metadata, true where its stream ended without a word on why; servers of OpenAI's APIs always give one."""

FEWER: Final = "crag_fewer"
"""Key of its metadata, where the model's context had no room for all passages; the numbers of those that were shown."""

TRIED: Final = "crag_tried"
"""Key of its metadata, where the model was asked before in vain, in another form or with more passages: the cost."""

PASSAGE: Final = "passage"
"""What the tags around each passage are named after in the prompt of an answer."""

SPENT: Final = ("llm_calls", "tokens_in", "tokens_out")
"""What calls to a chat model cost."""

COSTS: Final = (*SPENT, "words_to_generator", "seconds")
"""What an evaluation tells of the price of a question."""
