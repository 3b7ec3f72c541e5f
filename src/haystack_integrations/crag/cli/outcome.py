"""What comes out of one question: answer, evidence with the sentences that tell most, and the `crag` record."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.cli.errors import ExitCode

if TYPE_CHECKING:
    from haystack import Document, SuperComponent

_SENTENCES: Final = 3


@dataclass(frozen=True)
class Outcome:
    """
    What came out of one question.

    :param question: As it was asked.
    :param pipeline: Name of the pipeline that ran.
    :param answer: A chat model's answer; None without a model, or when the documents do not answer.
    :param evidence: The documents it rests on, best first; see `evidence_of`.
    :param crag: The `crag` record of the run.
    :param failures: Inputs that could not be read, each `{"source", "reason"}`.
    :param doubts: Those that were read, and are perhaps not as they were meant.
    """

    question: str
    pipeline: str
    answer: str | None
    evidence: list[dict[str, Any]]
    crag: dict[str, Any]
    failures: list[dict[str, str]] = field(default_factory=list)
    doubts: list[dict[str, str]] = field(default_factory=list)

    @property
    def status(self) -> str:
        """Tell what became of the answer, an `AnswerStatus`."""
        return str(self.crag["answer"]["status"])

    @property
    def answered(self) -> bool:
        """Tell whether the documents answer, in whole or in part: by the model that read them, else by the verdict."""
        said = self.status == "written" or (self.status == "none" and self.crag["verdict"] != "incorrect")
        return bool(self.evidence) and said

    @property
    def exit_code(self) -> ExitCode:
        """Tell how `crag ask` ends; that nothing answers says more than that something could not be read."""
        if not self.evidence:
            # Nothing answers only when all of the documents could be searched.
            searched = (self.crag.get("abstention") or {}).get("searched", "ok")
            return ExitCode.NOT_ANSWERED if searched == "ok" else ExitCode.UNREACHABLE
        if not self.answered:
            return ExitCode.UNREACHABLE if self.status == "failed" else ExitCode.NOT_ANSWERED
        return ExitCode.INPUTS_FAILED if self.failures else ExitCode.DONE

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain JSON, with `answered` (in whole or in part) beside the fields."""
        return {**asdict(self), "answered": self.answered}


def run(pipeline: "SuperComponent", name: str, question: str, options: Mapping[str, Any] | None = None) -> Outcome:
    """
    Ask.

    :param pipeline: A loaded pipeline.
    :param name: Its name.
    :param question: The question.
    :param options: Optional inputs, such as `mode` and `top_k`.
    :returns: Answer, evidence and record.
    """
    result = pipeline.run(query=question, **(options or {}))
    documents = result["documents"]
    answers = result.get("answers") or []
    answer = str(answers[0].data).strip() if answers and documents else None
    return Outcome(question, name, answer or None, evidence_of(question, documents), result["crag"])


def evidence_of(question: str, documents: "Sequence[Document]") -> list[dict[str, Any]]:
    """
    Find the sentences that tell most about a question.

    :param question: The question.
    :param documents: The evidence.
    :returns: For each document `{"number", "id", "source", "origin", "lead", "score", "status", "reason", "opinion",
        "text", "sentences"}`; number is what an answer cites, origin `index` or `web`, and each sentence is `{"text",
        "start", "end", "score"}` with offsets into the text.
    """
    from haystack_integrations.crag.components.evidence_prompt_builder import source_of
    from haystack_integrations.crag.components.strip_refiner import StripRefiner
    from haystack_integrations.crag.fusion import lead_of
    from haystack_integrations.crag.grades import crag_meta, grade_of, origin_of

    refiner: Any = StripRefiner(granularity="sentence", threshold=None, top_n=_SENTENCES)
    found = []
    for number, document in enumerate(documents, 1):
        text, grade = document.content or "", grade_of(document)
        # One document at a time, so that each shows its own best sentences.
        refined = refiner.run(query=question, documents=[document])["documents"]
        strips = crag_meta(refined[0]).get("strips", []) if refined else []
        sentences = [{"text": text[one["start"] : one["end"]], **one} for one in strips]
        entry: dict[str, Any] = {"number": number, "id": document.id, "source": source_of(document)}
        entry |= {"origin": origin_of(document), "lead": lead_of(document) or None}
        entry.update({key: getattr(grade, key, None) for key in ("score", "status", "reason", "opinion")})
        found.append({**entry, "text": text, "sentences": sentences})
    return found
