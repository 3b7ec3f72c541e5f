"""
Runs of the router among its neighbours, made up: whatever is retrieved, graded and configured, the promises hold.

Guard, joiner, prefilter, expander, refiner, web and record are the real parts; what retrievers, graders and the web
bring is drawn. `HYPOTHESIS_PROFILE=long` tries thousands of runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final

import pytest
from accounts import Search, as_they_are, check_record, plain
from haystack import Document
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.components.rule_prefilter import RulePrefilter
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.grades import Grade, annotate, grade_of, question_id, with_grade
from haystack_integrations.crag.state import CragState, given_in_run
from haystack_integrations.crag.vocabulary import ACTIONS, LOOP_ACTIONS, WEB_ACTIONS

QUESTION: Final = "How fast is the car of the museum?"
TEXTS: Final = [
    "The car of the museum is fast. It was built in 1931. Nobody may drive it.",
    "Bread is baked daily.",
    "A car needs petrol. The museum has none.",
    "The museum opens at nine.",
    "Automobiles are fast.",
    "",
    None,
    "Cats sleep.",
]
BROUGHT: Final = [
    {},
    {"crag": {"score": 0.9, "status": "graded", "grader": "other", "question": "0" * 16}},
    {"crag": {"score": 0.9, "status": "graded"}},
    {"crag": {"score": float("nan"), "status": "graded"}},
    {"crag": "a text"},
    {"crag": {"retrievers": "none"}, "source": "a.md"},
    {"crag": {"score": 0.1, "status": "graded", "grader": "x", "question": question_id(QUESTION)}},
]


@dataclass(frozen=True)
class Pass:
    """What one pass meets."""

    bm25: list[int]
    dense: list[int]
    grades: list[Any]
    report: dict[str, Any]
    searched: tuple[str, str]
    web: str
    pages: list[int]


@dataclass(frozen=True)
class Plan:
    """A run that was made up."""

    documents: list[Document]
    passes: list[Pass]
    router: dict[str, Any]
    guard: dict[str, Any]
    style: dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What happened."""

    record: dict[str, Any]
    documents: list[Document]
    came: set[str]
    first: list[Document]


def graded_as(document: Document, grade: Any) -> Document:
    """A document as a grader gives it."""
    question = question_id(QUESTION)
    if grade == "none":
        return document
    if grade == "failed":
        return with_grade(document, Grade.failed("test", question, "scripted"))
    if grade == "foreign":
        return with_grade(document, Grade(0.9, "graded", "test", question_id("another")))
    if grade == "strange":
        return annotate(document, score=85, status="graded", grader="test")
    if grade == "open":
        return annotate(document, score=0.6, status="graded", grader="test", question="")
    return with_grade(document, Grade(grade, "graded", "test", question))


def written(state: CragState) -> dict[str, Any]:
    """A state as it is written down, but for its clock, which runs on."""
    return {**state.to_dict(), "seconds": 0.0}


class Driver:
    """Runs a plan as the shipped pipelines do, and checks each pass."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.search = plan, Search()
        style = plan.style
        self.router = CragRouter(**plan.router)
        self.guard = QuestionGuard(strategy={"name": "hybrid", "weights": {"bm25": 1.0, "dense": 0.3}})
        self.fuse = EvidenceJoiner(
            weights={"bm25": 1.0, "dense": 0.3}, top_k=style["top_k"], kept_weight=style["kept_weight"], rrf_k=1
        )
        self.prefilter = RulePrefilter(rules=style["rules"])
        self.expander = QueryExpander(strategies=style["strategies"])
        self.web = WebFallback(
            self.search, deny_domains=["example.net"], max_retries=0, query_cooldown_s=style["again"]
        )
        self.refiner = StripRefiner(threshold=0.5, on_empty=style["on_empty"])
        self.join = EvidenceJoiner(weights={"refined": 1.0, "web": 1.0})
        self.came, self.scores = set[str](), dict[str, set[float]]()
        self.graded = set[tuple[str, str | None]]()

    def run(self) -> Run:
        """Run it to its end."""
        plan = self.plan
        begun = self.guard.run(query=QUESTION, **plan.guard)
        state: CragState = begun["state"]
        found, retrieval = self._retrieved(0, state)
        first: list[Document] | None = None
        for turn in range(25):
            scene = plan.passes[turn % len(plan.passes)]
            documents, report = self._graded(turn, found, state)
            first = documents if first is None else first
            before, kept = as_they_are(documents), as_they_are(state.kept)
            result = self.router.run(
                query=QUESTION, documents=documents, state=state, report=report, retrieval=retrieval
            )
            assert as_they_are(documents) == before
            assert as_they_are(state.kept) == kept
            self._check(result, documents, state)
            if "outcome" in result:
                return self._ended(result, first)
            after = result["state"]
            assert written(CragState.from_dict(after.to_dict())) == written(after)
            retrieval, found = None, []
            if result["decision"]["action"] in WEB_ACTIONS:
                state, found = self._asked_the_web(scene, result)
            else:
                expanded = self.expander.run(state=after)
                state = expanded["state"]
                if "query" in expanded:
                    found, retrieval = self._retrieved(turn + 1, state)
                else:
                    found = expanded["exhausted"]
        pytest.fail("the run did not end")

    def _retrieved(self, turn: int, state: CragState) -> tuple[list[Document], Any]:
        scene, documents = self.plan.passes[turn % len(self.plan.passes)], self.plan.documents
        lists = {
            name: [replace(documents[n % len(documents)], score=1.0 / rank) for rank, n in enumerate(picks, 1)]
            for name, picks in (("bm25", scene.bm25), ("dense", scene.dense))
        }
        lists = {
            name: [] if said == "failed" else found
            for (name, found), said in zip(lists.items(), scene.searched, strict=True)
        }
        given_ = {name: as_they_are(found) for name, found in lists.items()}
        reports = {
            f"{name}_report": {"status": said} for name, said in zip(lists, scene.searched, strict=True) if said != "-"
        }
        fused = self.fuse.run(**lists, **reports, state=state)
        assert {name: as_they_are(found) for name, found in lists.items()} == given_
        return fused["documents"], fused.get("report")

    def _graded(self, turn: int, found: list[Document], state: CragState) -> tuple[list[Document], Any]:
        scene = self.plan.passes[turn % len(self.plan.passes)]
        if state.mode == "off":
            self.came |= {document.id for document in found}
            return found, None
        told = self.prefilter.run(query=QUESTION, documents=found, state=state)
        self.came |= {document.id for document in found} | {document.id for document in state.kept}
        if "approved" in told:
            assert not {(document.id, document.content) for document in found} & self.graded
            for document in told["approved"]:
                self.scores.setdefault(document.id, set()).add(1.0)
            return told["approved"], None
        graded = []
        for place, document in enumerate(found):
            known = given_in_run(state, document, question_id(QUESTION)) if self.plan.style["remembers"] else None
            one = graded_as(document, scene.grades[place % len(scene.grades)])
            graded.append(one if known is None else with_grade(document, known))
        for document in graded:
            grade = grade_of(document)
            if grade is not None and grade.status != "failed" and grade.question == question_id(QUESTION):
                self.graded.add((document.id, document.content))
            if grade is not None:
                self.scores.setdefault(document.id, set()).add(grade.score)
        report = dict(scene.report)
        if not graded:
            report.pop("verdict", None)
            report.pop("set_score", None) if self.plan.router["aggregate"] != "set" else None
        return graded, report

    def _asked_the_web(self, scene: Pass, result: dict[str, Any]) -> tuple[CragState, list[Document]]:
        (branch,) = branches(result)
        self.search.kind, self.search.pages = scene.web, scene.pages
        sent = self.web.run(state=result[branch])
        if not self.plan.style["refines"]:
            return sent["state"], sent["documents"]
        kept = result["kept"]
        refined = self.refiner.run(query=QUESTION, documents=kept, state=result[branch])
        joined = self.join.run(
            refined=refined["documents"], web=sent["documents"], state=sent["state"], refined_state=refined["state"]
        )
        self.came |= {document.id for document in kept}
        return joined["state"], joined["documents"]

    def _check(self, result: dict[str, Any], documents: list[Document], state: CragState) -> None:
        """Check one pass against what is known of it from outside."""
        decision, settings_ = result["decision"], self.plan.router
        (branch,) = branches(result)
        assert ("outcome" in result) == (branch in ("generate", "abstain"))
        mode = self.plan.guard.get("mode") or settings_["mode"]
        assert decision["mode"] == mode
        assert branch == (decision["action"] if mode == "enforce" else "generate")
        recorded = [entry["id"] for entry in (*decision["kept"], *decision["discarded"])]
        assert {document.id for document in documents} | {document.id for document in state.kept} == set(recorded)
        if mode == "off":
            return
        for entry in (*decision["kept"], *decision["discarded"]):
            if entry["score"] is not None and entry.get("status") != "failed":
                assert entry["score"] in self.scores.get(entry["id"], set())
            if entry.get("status") == "failed":
                assert entry["score"] == 0.5
        self._check_score(decision, documents, state)
        is_whole = decision["retrieval"] is None or decision["retrieval"]["status"] == "ok"
        if decision["action"] in WEB_ACTIONS and (decision["coverage"]["failed"] or not is_whole):
            # Only who says so lets a failure reach the web.
            assert set(settings_["on_ungraded"]) & WEB_ACTIONS
        if "abstain" in result:
            assert result["abstain"].strip()
        if branch == "generate" and mode == "enforce":
            self._check_evidence(result["generate"], decision["limit"])
        if branch == "generate" and mode == "observe":
            # But for a grade that is none of this question's.
            assert [(d.id, d.content) for d in result["generate"]] == [(d.id, d.content) for d in documents]

    def _check_evidence(self, evidence: Sequence[Document], limit: str | None) -> None:
        settings_ = self.plan.router
        assert evidence
        if limit is None:
            return
        assert len(evidence) <= settings_["max_evidence"]
        assert settings_["on_limit"] != "abstain"
        grades = [grade_of(document) for document in evidence]
        if settings_["on_limit"] == "generate_relevant":
            assert all(g and (g.status == "failed" or g.score >= settings_["filter_threshold"]) for g in grades)

    def _check_score(self, decision: dict[str, Any], documents: Sequence[Document], state: CragState) -> None:
        settings_ = self.plan.router
        if settings_["aggregate"] == "set" or decision["judged_by"] not in (
            *("upper_threshold", "lower_threshold", "between_thresholds", "variance", "middle"),
        ):
            return
        ids = {document.id for document in documents}
        everything = [*documents, *(document for document in state.kept if document.id not in ids)]
        unique = {(document.id, document.content): document for document in reversed(everything)}
        grades = [grade_of(unique[key]) for key in dict.fromkeys((d.id, d.content) for d in everything)]
        question = question_id(QUESTION)
        usable = [g.score for g in grades if g and g.status != "failed" and g.question in (question, "")]
        if settings_["aggregate_over"] == "kept":
            usable = [score for score in usable if score >= settings_["filter_threshold"]]
        if not usable:
            assert decision["score"] is None
            return
        weights = [1 / n for n in range(1, len(usable) + 1)]
        expected = {
            "mean": fmean(usable),
            "max": max(usable),
            "min": min(usable),
            "rank_weighted": sum(w * s for w, s in zip(weights, usable, strict=True)) / sum(weights),
        }[settings_["aggregate"]]
        assert decision["score"] == pytest.approx(expected, abs=1e-4)

    def _ended(self, result: dict[str, Any], first: list[Document]) -> Run:
        outcome, documents = result["outcome"], result.get("generate")
        if documents and self.plan.style["strips"]:
            documents = self.refiner.run(query=QUESTION, documents=documents, state=outcome)["documents"]
        built = RecordBuilder().run(outcome=outcome, documents=documents)
        return Run(built["crag"], built["documents"], self.came, first)


def show(plan: Plan) -> str:
    """A plan in lines that can be read."""
    return "\n".join(map(repr, [*plan.documents, *plan.passes, plan.router, plan.guard, plan.style]))


def branches(result: dict[str, Any]) -> list[str]:
    """The branches of a result."""
    return [key for key in result if key in ACTIONS]


def usually(value: Any, *others: Any) -> st.SearchStrategy[Any]:
    """Most of the time the same; a run in which everything is odd at once ends before it begins."""
    return st.sampled_from([value] * 9 * len(others) + list(others))


points = st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.7, 0.75, 1.0])
numbers = points | st.floats(0, 1)
graded_ = numbers | numbers | numbers | st.sampled_from(["failed", "failed", "none", "foreign", "strange", "open"])
ladders = st.lists(st.sampled_from([*sorted(LOOP_ACTIONS) * 3, *sorted(ACTIONS)]), min_size=1, max_size=3)
words = st.sampled_from(["correct", "ambiguous", "incorrect", "ungraded", "Correct ", "nonsense", None])


@st.composite
def reports(draw: st.DrawFn) -> dict[str, Any]:
    """What a grader says of its work."""
    said: dict[str, Any] = {"set_score": draw(numbers)}
    said |= draw(st.sampled_from([{}, {}, {"llm_calls": 1, "tokens_in": 50, "tokens_out": 5}, {"llm_calls": 3}]))
    verdict = draw(words)
    if draw(st.booleans()):
        said["verdict"] = verdict
    elif draw(st.booleans()):
        said["verdict"] = {"verdict": verdict, "correct_from": draw(st.sampled_from([None, 0.9, 0.6]))}
    said |= draw(usually({}, {"limit": "llm_calls"}, {"limit": "tokens"}))
    said |= draw(st.sampled_from([{}, {}, {"cascade": {"asked": 2}}, {"signals": {"x": float("nan")}}]))
    return said


passes = st.builds(
    Pass,
    bm25=st.lists(st.integers(0, 11), max_size=5),
    dense=st.lists(st.integers(0, 11), max_size=5),
    grades=st.lists(graded_, min_size=1, max_size=6),
    report=reports(),
    searched=usually(("-", "-"), ("ok", "incomplete"), ("failed", "-"), ("failed", "failed"), ("ok", "ok")),
    web=st.sampled_from(["ok", "ok", "ok", "empty", "failed", "denied"]),
    pages=st.lists(st.integers(0, 9), max_size=4),
)


@st.composite
def routers(draw: st.DrawFn) -> dict[str, Any]:
    """Any settings that a router accepts."""
    lower, upper = sorted([draw(numbers), draw(numbers)])
    return {
        "upper": upper,
        "lower": lower,
        "strict": draw(st.sampled_from([None, ["upper"], ["lower"], ["upper", "lower"]])),
        "filter_threshold": draw(numbers),
        "aggregate": draw(st.sampled_from(["mean", "rank_weighted", "max", "min", "set"])),
        "aggregate_over": draw(st.sampled_from(["kept", "all"])),
        "variance_rule": draw(st.booleans()),
        "on_ambiguous": draw(ladders),
        "on_incorrect": draw(ladders),
        "on_ungraded": draw(ladders),
        "on_limit": draw(st.sampled_from(["generate", "generate_relevant", "abstain"])),
        "max_iterations": draw(st.sampled_from([4, 3, 3, 2, 1])),
        "max_evidence": draw(st.integers(1, 6)),
        "enough_documents": draw(usually(None, 1, 2, 3)),
        "keep_good": draw(st.booleans()),
        "mode": draw(usually("enforce", "observe", "off")),
        "explain_abstention": draw(st.booleans()),
    }


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A run: what is there, what each pass meets, and how everything is set."""
    documents = []
    for number in range(draw(st.integers(4, 12))):
        id_ = draw(usually(f"d{number}", "d0"))
        text = draw(usually(f"{TEXTS[number % 4]} {number}", *TEXTS))
        meta = draw(usually(*BROUGHT))
        documents.append(Document(id=id_, content=text, meta=meta, embedding=draw(st.sampled_from([None, [0.1]]))))
    limits = [
        {"iterations": 2},
        {"llm_calls": 1},
        {"llm_calls": 4},
        {"tokens": 60},
        {"seconds": 1e-9},
        {"seconds": 600},
    ]
    guard = {
        "mode": draw(usually(None, "enforce", "observe", "off")),
        "budget": draw(usually({}, *limits)),
        "web": draw(usually(None, False)),
    }
    style = {
        "top_k": draw(usually(10, 2)),
        "kept_weight": draw(st.sampled_from([None, None, 1.0])),
        "rules": draw(usually([], ["few_context"], None)),
        "strategies": draw(
            st.sampled_from(
                [
                    None,
                    [{"name": "dense", "weights": {"bm25": 0.0, "dense": 1.0}}],
                    [{"name": "expanded", "weights": {"bm25": 1.0, "dense": 0.5}, "expand": True}],
                ]
            )
        ),
        "again": draw(st.sampled_from([0.0, 60.0])),
        "on_empty": draw(st.sampled_from(["best", "keep", "drop"])),
        "remembers": draw(st.booleans()),
        "refines": draw(st.booleans()),
        "strips": draw(st.booleans()),
    }
    return Plan(documents, draw(st.lists(passes, min_size=1, max_size=4)), draw(routers()), guard, style)


@pytest.mark.usefixtures("quiet")
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans())
def test_any_run_ends_within_its_limits_and_accounts_for_every_document(plan: Plan) -> None:
    """Also twice the same, from the same input."""
    note(show(plan))
    before = as_they_are(plan.documents)
    run = Driver(plan).run()
    record = run.record
    check_record(record, run.documents, run.came)
    limits = [plan.router["max_iterations"], plan.guard["budget"].get("iterations", 9)]
    assert record["iterations"] <= min(limits)
    if record["mode"] != "enforce":
        assert [document.id for document in run.documents] == [document.id for document in run.first]
        assert record["corrected"] is False
    if plan.guard["web"] is False:
        assert not record["web_used"]
    assert as_they_are(plan.documents) == before
    again = Driver(plan).run().record
    assert plain({**again, "milliseconds": 0}) == plain({**record, "milliseconds": 0})
