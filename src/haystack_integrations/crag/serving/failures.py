"""Which failure it is: whatever a run or a request raises, as a status and a code."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from traceback import walk_tb
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from haystack import logging
from haystack.errors import FilterError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse
from starlette.types import Scope

from haystack_integrations.crag.errors import ConfigurationError, GradingError, QuestionError, StoreError, causes
from haystack_integrations.crag.serving.problems import CHAT, MCP, MODELS, problem

logger = logging.getLogger(__name__)

_MISCONFIGURED: Final = "misconfigured"
_STORE: Final = "store_unavailable"
_CLOSED: Final = "index_closed_exception"  # the one 400 of Elasticsearch that is no fault of the question
_NOT_COMPARED: Final = (TypeError, ValueError)
# What a client may have done wrong, what is down behind this server, and what its operator has set wrong, by the error
# that says so. A client's own options are checked at the door, as `invalid_request`: what a part finds unusable later
# is a setting of the server's, and no other request would go better.
_KINDS: Final[Sequence[tuple[type[Exception], int, str]]] = (
    (QuestionError, 422, "invalid_question"),
    (FilterError, 422, "invalid_filters"),
    (ConfigurationError, 500, _MISCONFIGURED),
    (StoreError, 503, _STORE),
    (GradingError, 503, "model_unavailable"),
)
_PACKAGES: Final = {
    "elasticsearch": _STORE,
    "elastic_transport": _STORE,
    "openai": "model_unavailable",
}
_MOST_TOLD: Final = 100  # broken rules: a request of 64 KiB can break ten thousand, and was answered by half a megabyte
_ROUTES: Final = ("/PIPELINE/run", CHAT, MODELS, MCP)
"""For a client that was given a path as other servers have them, such as `/v1/completions` or `/sse`."""
_JSON: Final = ({"field": None, "rule": "json", "accepted": ["JSON in UTF-8, not compressed"]},)
_FILTERS: Final = (
    {
        "field": "filters",
        "rule": "haystack_filters",
        "comparison": '{"field": "meta.KEY", "operator": OPERATOR, "value": VALUE}',
        "operators": ["==", "!=", ">", ">=", "<", "<=", "in", "not in"],
        "logic": '{"operator": "AND" | "OR" | "NOT", "conditions": [...]}',
    },
)
"""What filters look like: the store's own words would repeat what the client sent."""


class ServeError(HTTPException):
    """A failure with its code; Hayhooks hands it on as it is."""

    def __init__(self, status: int, code: str, detail: Sequence[Mapping[str, Any]] | None = None) -> None:
        """
        Keep what the client is told.

        :param status: HTTP status.
        :param code: The word for it.
        :param detail: Fields and rules.
        """
        super().__init__(status, code)
        self.code, self.fields = code, detail

    def __str__(self) -> str:
        """Give the code; this text stands in logs and spans."""
        return self.code


def no_such_pipeline(served: Iterable[str]) -> ServeError:
    """
    Refuse a pipeline that is not served.

    :param served: Those that are. Whoever comes this far has a key, and may list them anyway.
    :returns: The failure, to be raised.
    """
    return ServeError(404, "not_found", [{"field": "pipeline", "rule": "unknown", "accepted": list(served)}])


def no_room(error: OSError) -> ServeError:
    """
    Refuse an upload that this server cannot keep while it reads it, which is no fault of the client's.

    :param error: What the operating system says; the log tells it, without the name of a file.
    :returns: The failure, to be raised.
    """
    words = "An upload cannot be kept: {why}; make room in the folder of temporary files, or set TMPDIR to another one"
    logger.warning(words, why=error.strerror or type(error).__name__)
    return ServeError(503, "unavailable")


def add_handlers(
    app: FastAPI,
    accepted: Callable[[Scope], Mapping[str | None, Sequence[str]]],
    served: Iterable[str],
    more: Sequence[str] = (),
) -> None:
    """
    Let every failure of an app be told in this form.

    :param app: The app.
    :param accepted: Gives the names that a request and its fields may hold, for one that holds another.
    :param served: The pipelines.
    :param more: Paths of this app beside those that each has.
    """
    routes = [{"field": "path", "rule": "unknown", "accepted": [*_ROUTES, *more]}]

    async def failed(request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, StarletteHTTPException) else 500
        if status == HTTPStatus.NOT_FOUND and request.scope["path"].endswith("/run"):
            error = no_such_pipeline(served)
        if status == HTTPStatus.BAD_REQUEST and isinstance(error.__cause__, OSError):
            error = no_room(error.__cause__)  # FastAPI blames the client when it cannot put a large body into a file
        if isinstance(error, ServeError):
            return problem(error.status_code, error.code, error.fields, error.headers)
        if _is_no_json(error):
            return problem(400, detail=_JSON)
        if isinstance(error, RequestValidationError):
            found = broken_rules(error.errors(), accepted(request.scope))
            return problem(422, detail=_as_json(found, request.headers.get("content-type", "")))
        # What others put into `detail` is a text with whatever an exception said: it stays here.
        detail = routes if status == HTTPStatus.NOT_FOUND else None
        return problem(status, detail=detail, headers=getattr(error, "headers", None))

    app.add_exception_handler(StarletteHTTPException, failed)
    app.add_exception_handler(RequestValidationError, failed)


def _is_no_json(error: Exception) -> bool:
    """Tell whether a body is no JSON in UTF-8: shells of Windows send another encoding, and some clients compress."""
    if isinstance(error, RequestValidationError):
        return any(one["type"] == "json_invalid" for one in error.errors())
    return isinstance(error.__cause__, UnicodeDecodeError)


def broken_rules(errors: Sequence[Any], accepted: Mapping[str | None, Sequence[str]]) -> list[dict[str, Any]]:
    """
    Say which fields are wrong and which rules they break.

    :param errors: As pydantic lists them.
    :param accepted: The names that are accepted, told where another one was sent: by field, None for the whole request.
    :returns: One entry for each of the first hundred; without a value, and without a name that the client made up.
    """
    found = []
    for error in errors[:_MOST_TOLD]:
        # Of what is no JSON the place is that of a character.
        place = [str(part) for part in error["loc"] if part != "body" and error["type"] != "json_invalid"]
        unknown = error["type"] == "extra_forbidden"
        entry: dict[str, Any] = {"field": ".".join(place[:-1] if unknown else place) or None, "rule": error["type"]}
        context = error.get("ctx") or {}
        limits: dict[str, Any] = {name: value for name, value in context.items() if isinstance(value, int | float)}
        if error["type"] == "literal_error":
            limits["expected"] = context["expected"]
        if unknown and (names := accepted.get(entry["field"])):
            limits["accepted"] = list(names)
        found.append({**entry, **limits})
    return found


def _as_json(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Name the missing header, in place of a rule that only says that there was no object."""
    if "json" not in kind.lower() and any(one["rule"] == "model_attributes_type" for one in found):
        return [{"field": None, "rule": "content_type", "accepted": ["application/json"]}]
    return found


@contextmanager
def translated(options: Mapping[str, Any]) -> Iterator[None]:
    """
    Turn whatever a run raises into a failure that says nothing of its text.

    :param options: The options of the run.
    :raises ServeError: In place of any exception.
    """
    try:
        yield
    except HTTPException:
        raise
    except Exception as error:  # the boundary of the server: whatever a pipeline raises
        status, code = _kind(error, options)
        logger.warning("A run failed: {code} ({what})", code=code, what=what_failed(error))
        raise ServeError(status, code, _rules_of(code, error)) from None


def what_failed(error: BaseException) -> str:
    """
    Say what failed without a word of its text, which may hold a question, a document or a key.

    :param error: What was raised.
    :returns: The kinds of the errors in its chain, each with its status if it has one, and the part that failed.
    """
    kinds = " < ".join(
        f"{type(link).__name__} {getattr(link, 'status_code', None) or ''}".rstrip() for link in causes(error)
    )
    named = (name for link in causes(error) if (name := getattr(link, "component_name", None)))
    return f"{kinds}; {next(named, None) or _raised_in(error)}"


def _rules_of(code: str, error: Exception) -> Sequence[Mapping[str, Any]] | None:
    """Say which rule a question or filters break, without a word of theirs; a failure of ours is none of theirs."""
    if code == "invalid_filters":
        return _FILTERS
    broken = next((link.broken for link in causes(error) if isinstance(link, QuestionError)), None)
    return [{"field": "question", **broken}] if code == "invalid_question" and broken else None


def _raised_in(error: BaseException) -> str:
    """Name the module that failed before a component ran, such as one that reads a file anew."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__")).rpartition(".")[2] if frames else "no component"


def _kind(error: Exception, options: Mapping[str, Any]) -> tuple[int, str]:
    chain = list(causes(error))
    for link in chain:
        for kind, status, code in _KINDS:
            if isinstance(link, kind):
                # Filters that no client sent stand in the pipeline.
                own = code == "invalid_filters" and not options.get("filters")
                return (500, _MISCONFIGURED) if own else (status, code)
    for link in chain:
        package = type(link).__module__.partition(".")[0]
        if package in _PACKAGES:
            code = _PACKAGES[package]
            is_refused = getattr(link, "status_code", None) == HTTPStatus.BAD_REQUEST
            if code != _STORE or not is_refused or getattr(link, "message", None) == _CLOSED:
                return 503, code
            # A search that makes no sense: by the client's filters, or by vectors of another length than the index has.
            return (422, "invalid_filters") if options.get("filters") else (500, _MISCONFIGURED)
    # A comparison that a store cannot make, such as of a text with a number, raises what Python raises for it.
    part = next((str(getattr(link, "component_type", "")) for link in chain if hasattr(link, "component_type")), "")
    if options.get("filters") and "Retriever" in part and any(isinstance(link, _NOT_COMPARED) for link in chain):
        return 422, "invalid_filters"
    return 500, "internal_error"
