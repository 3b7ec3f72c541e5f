"""
The errors that users meet. Each says what was got, what was wanted and the way out.

CragError
├── ConfigurationError   a setting, an argument or a name is unusable     (also a ValueError)
├── QuestionError        the question is empty or too long                (also a ValueError)
├── GradingError         grading failed and `on_failure="raise"` was set  (also a RuntimeError)
├── SourceError          a file or a record cannot be read                (also a ValueError)
└── StoreError           the document store is unreachable or unusable    (also a RuntimeError)

Messages carry names, numbers and settings; never a document's or a reply's text.
"""


class CragError(Exception):
    """Base of all errors of this package: catch it to catch them all."""


class ConfigurationError(CragError, ValueError):
    """A setting, an argument or a name is unusable; the message names the accepted ones."""


class QuestionError(CragError, ValueError):
    """The question is empty or longer than the pipeline accepts."""


class GradingError(CragError, RuntimeError):
    """Grading failed and the grader was told to raise (`on_failure="raise"`)."""


class SourceError(CragError, ValueError):
    """A file or a record cannot be read as what its name says."""


class StoreError(CragError, RuntimeError):
    """The document store is unreachable, slow beyond its timeout, or not set up for this package."""
