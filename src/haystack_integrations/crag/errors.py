"""
The errors that users meet. Each says what was got, what was wanted and the way out.

CragError
├── ConfigurationError   a setting, an argument or a name is unusable     (also a ValueError)
│   └── NotConfiguredError   nobody has set up what a run can do without
├── QuestionError        the question is empty or too long                (also a ValueError)
├── GradingError         grading failed and `on_failure="raise"` was set  (also a RuntimeError)
├── SourceError          a file or a record cannot be read                (also a ValueError)
├── CalibrationError     labelled questions cannot carry a calibration    (also a ValueError)
├── EvaluationError      an evaluation was cut short, and can go on       (also a RuntimeError)
├── StoreError           the document store is unreachable or unusable    (also a RuntimeError)
└── WebSearchError       a web search failed, which is not "no results"   (also a RuntimeError)

Messages carry names, numbers and settings; never a document's, a question's or a reply's text.
"""

from collections.abc import Iterator
from ssl import SSLCertVerificationError, SSLError, create_default_context
from typing import Final


class CragError(Exception):
    """Base of all errors of this package: catch it to catch them all."""


class ConfigurationError(CragError, ValueError):
    """A setting, an argument or a name is unusable; the message names the accepted ones."""


class NotConfiguredError(ConfigurationError):
    """Nobody has set up what a run can do without: a web search that raises it counts as not asked, not as failed."""

    kind = "not_configured"


class QuestionError(CragError, ValueError):
    """The question is empty or longer than the pipeline accepts."""

    def __init__(self, message: str, rule: str = "unusable", **limits: int) -> None:
        """
        Keep which rule is broken, for those who are not shown a message.

        :param message: Got, wanted, way out.
        :param rule: The rule in a word, as pydantic calls such rules.
        :param limits: The numbers in it.
        """
        super().__init__(message)
        self.broken: dict[str, str | int] = {"rule": rule, **limits}


class GradingError(CragError, RuntimeError):
    """Grading failed and the grader was told to raise (`on_failure="raise"`)."""


class SourceError(CragError, ValueError):
    """A file or a record cannot be read as what its name says."""


class CalibrationError(CragError, ValueError):
    """The labelled questions cannot carry a calibration; the message says what is missing."""


class EvaluationError(CragError, RuntimeError):
    """An evaluation was cut short; what was judged is kept, and the same command goes on from there."""


class StoreError(CragError, RuntimeError):
    """The document store is unreachable, slow beyond its timeout, or not set up for this package."""


class WebSearchError(CragError, RuntimeError):
    """A web search failed; `kind` says how, in a word that does not change with the wording of the message."""

    def __init__(self, message: str, *, kind: str = "failed", retry_after_s: float | None = None) -> None:
        """
        Keep what a caller decides by.

        :param message: What was got, what was wanted and the way out; never the question.
        :param kind: Such as `timeout`, `connection`, `rate_limited`, `engines_failed`, `not_json` or `http_403`.
        :param retry_after_s: Seconds after which the server wants to be asked again, when it says so.
        """
        super().__init__(message)
        self.kind, self.retry_after_s = kind, retry_after_s


_WORD: Final = 20  # letters

OWN_AUTHORITY: Final = (
    "where an authority of your own has signed that, name the PEM file of the authority's certificate in SSL_CERT_FILE"
)
"""The way out where a certificate is right and nobody here trusts who signed it."""


def causes(error: BaseException, *, hidden: bool = False) -> Iterator[BaseException]:
    """
    Give an exception and what it was raised from: Haystack wraps what a component raises.

    :param error: Any exception.
    :param hidden: Whether also what was being handled, and what a client does not want to be printed.
    :returns: The links of the chain, outermost first, each once.
    """
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (link.__context__ if hidden else None)


def tls_failure(error: BaseException) -> str | None:
    """
    Tell why no secure connection could be made, in OpenSSL's own words.

    :param error: What a client raised; each wraps that in errors of its own.
    :returns: Such as `self-signed certificate` or `WRONG_VERSION_NUMBER`; None where TLS is not what failed.
    """
    found = next((link for link in causes(error, hidden=True) if isinstance(link, SSLError)), None)
    if found is None:
        return None
    return str(found.verify_message if isinstance(found, SSLCertVerificationError) else found.reason)


def unreadable_certificates(file: str) -> str | None:
    """
    Tell why a file cannot be what a secure connection trusts.

    :param file: A file of certificates.
    :returns: The error's kind, such as `FileNotFoundError` or `SSLError`; None where the file can be read and has one.
    """
    try:
        create_default_context(cafile=file)
    except OSError as error:  # also what the reader of certificates raises
        return type(error).__name__
    return None


def shown(value: object) -> str:
    """
    Show in a message what a run was given, which may be a document or a reply in the wrong place.

    :param value: Anything.
    :returns: A number or a word as it is; of anything else only what it is.
    """
    if value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _WORD):
        return repr(value)
    return f"a {'long text' if isinstance(value, str) else type(value).__name__}"


def told(error: BaseException) -> Iterator[BaseException]:
    """
    Give all exceptions that a traceback of one prints: causes, what was being handled, and the members of groups.

    :param error: Any exception.
    :returns: The exception and the others, each once.
    """
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        members = link.exceptions if isinstance(link, BaseExceptionGroup) else ()
        waiting += [*members, None if link.__suppress_context__ else link.__context__, link.__cause__]
