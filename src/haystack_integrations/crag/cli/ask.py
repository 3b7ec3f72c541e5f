"""What `crag ask` does between the options and the screen: choose the store, read files, run, collect the evidence."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.chat_model import ANSWER_SECONDS, HOW_TO_SET, ChatModel, has_key
from haystack_integrations.crag.cli.outcome import Outcome, run
from haystack_integrations.crag.cli.places import choose_place, open_place, read_documents
from haystack_integrations.crag.errors import ConfigurationError

if TYPE_CHECKING:
    from haystack import SuperComponent

WITH_MODEL: Final = "corrective_rag"
WITHOUT_MODEL: Final = "corrective_retrieval"


@dataclass(frozen=True)
class Request:
    """
    A question and where it is to be answered from.

    :param question: The question.
    :param pipeline: A shipped pipeline, or the path of a YAML file.
    :param docs: Files and directories; empty for an existing index.
    :param options: Optional inputs of the pipeline, such as `mode` and `top_k`; None leaves one out.
    :param calibration: A file of `crag calibrate` for the parts that judge by one, or None.
    """

    question: str
    pipeline: str
    docs: Sequence[Path] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    calibration: str | None = None


def answer(
    request: Request,
    model: ChatModel | None,
    place: tuple[str | None, str | None, str | None],
    tell: Callable[..., None],
) -> Outcome:
    """
    Answer a question from files or from an index.

    :param request: The question.
    :param model: The chat model, or None.
    :param place: Kind, address and index of a store, as far as they were given.
    :param tell: Called with the files that could not be read, as soon as that is known; then with those whose text is
        of no use, and `warning`; and with what of the options cannot be had, and `note`.
    :returns: What came out.
    :raises CragError: For whatever cannot work; nothing is changed in any store.
    """
    from haystack_integrations.crag.pipelines.opening import calibrated_parts
    from haystack_integrations.crag.pipelines.room import told_of_less

    found = choose_place(request.docs, place)
    options = {key: value for key, value in request.options.items() if value is not None}
    _check(request.pipeline, request.question, model, options)
    parts = calibrated_parts(request.pipeline, request.calibration)
    if request.calibration and not parts:
        msg = (
            f"no part of {request.pipeline!r} judges by a calibration; leave it out, or take --pipeline {WITHOUT_MODEL}"
        )
        raise ConfigurationError(msg)
    store = open_place(found)
    pipeline = load_pipeline(request.pipeline, store, model, parts)
    if less := told_of_less(pipeline.pipeline, options.get("top_k")):
        tell([{"source": "--top-k", "reason": less}], "note")
    read = read_documents(request.docs, store, tell) if request.docs else {}
    outcome = run(pipeline, request.pipeline, request.question, options)
    return replace(outcome, failures=read.get("failures", []), doubts=read.get("doubts", []))


def from_stdin() -> str:
    """
    Read a question from stdin.

    :returns: The question. Bytes that are no UTF-8 stay halves of characters, as in an argument, and are refused later:
        with signs in their place another question would be asked.
    """
    return sys.stdin.buffer.read().decode("utf-8-sig", "surrogateescape").strip()


def more_docs(paths: Sequence[Path]) -> Sequence[Path]:
    """
    Tell further paths from the words of a question without quotes.

    :param paths: What stands behind the question.
    :returns: The same.
    :raises ConfigurationError: When nothing is at any of them.
    """
    if paths and not any(path.exists() for path in paths):
        msg = (
            f"no file or folder at {list(map(str, paths))}; if these are words of the question, put it into quotes: "
            'crag ask "QUESTION" --docs PATH'
        )
        raise ConfigurationError(msg)
    return paths


def _check(name: str, question: str, model: ChatModel | None, options: Mapping[str, Any]) -> None:
    """Refuse what cannot work before a file or a server is touched; the question by the pipeline's own guard."""
    from haystack_integrations.crag.components.question_guard import QuestionGuard
    from haystack_integrations.crag.pipelines.checks import check_questions, wants_a_model
    from haystack_integrations.crag.pipelines.forms import inputs_of, settings_of
    from haystack_integrations.crag.pipelines.loader import names, read
    from haystack_integrations.crag.pipelines.unloadable import said_of

    spec = read(name)
    check_questions(name, spec)
    unknown = sorted(set(options).difference(inputs_of(spec)))
    if unknown:
        msg = f"the pipeline {name!r} takes no {' and no '.join(unknown)}; leave it out, or choose another pipeline"
        raise ConfigurationError(msg)
    guards = {key: one for key, one in spec["components"].items() if str(one.get("type")).endswith(".QuestionGuard")}
    with said_of(name, lambda: guards):
        guard: Any = QuestionGuard(**next((settings_of(one) for one in guards.values()), {}))
    guard.run(query=question)
    if model is None and name in names() and wants_a_model(spec) and not has_key():
        msg = (
            f"the pipeline {name!r} asks a chat model, but none is configured; {HOW_TO_SET}, or take --pipeline "
            f"{WITHOUT_MODEL}"
        )
        raise ConfigurationError(msg)


def load_pipeline(name: str, store: Any, model: ChatModel | None, parts: Mapping[str, Any]) -> "SuperComponent":
    """
    Load the pipeline that answers.

    :param name: A shipped pipeline, or the path of a YAML file.
    :param store: The store.
    :param model: The chat model, or None.
    :param parts: What else `load` is given.
    :returns: The pipeline.
    :raises ConfigurationError: When it cannot be loaded.
    """
    from haystack.core.serialization import generate_qualified_class_name

    from haystack_integrations.crag.components.answer_generator import AnswerGenerator
    from haystack_integrations.crag.pipelines.loader import load, read
    from haystack_integrations.crag.pipelines.opening import model_parts

    # At a terminal an answer that failed is an error to be explained, not a sentence in its place.
    loud: Any = {"on_failure": "raise"}
    if model is None:
        kind = generate_qualified_class_name(AnswerGenerator)
        own = {part: loud for part, entry in read(name)["components"].items() if entry["type"] == kind}
        return load(name, store=store, **own, **parts)
    answering = AnswerGenerator(model.generator(ANSWER_SECONDS), timeout_s=2 * ANSWER_SECONDS, **loud)
    return load(name, store=store, **model_parts(name, answering, model.judge()), **parts)
