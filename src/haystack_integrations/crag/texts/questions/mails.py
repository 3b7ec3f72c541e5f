"""Mail as programs write it: lines of a header, who wrote what before, the sign before a signature."""

import re
from collections.abc import Iterator
from itertools import chain, groupby
from typing import Final

_TITLED: Final = re.compile(r"(?:subject|betreff|objet|asunto|oggetto|assunto|onderwerp) ?:.*", re.IGNORECASE)
_HEADER: Final = re.compile(
    r"(?:from|to|cc|bcc|sent|date|reply-to|importance|attachments?|von|an|gesendet|datum|de|à|envoyé|para|enviado|fecha"
    r"|da|a|inviato|data|van|aan|verzonden) ?:.*",
    re.IGNORECASE,
)
_EARLIER: Final = re.compile(
    r"(?:on .* wrote|am .* schrieb .*|le .* a écrit|el .* escribió|il .* ha scritto|em .* escreveu|op .* schreef .*"
    r"|begin forwarded message) ?:"
    r"|-{2,} ?(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht"
    r"|message d.origine"
    r"|message transféré|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht) ?-{2,}",
    re.IGNORECASE,
)
_SIGNATURE: Final = "--"
_MOST_SIGNED: Final = 8


def mails_in(text: str) -> Iterator[str]:
    """
    Part a thread into its mails.

    ```python
    from haystack_integrations.crag.texts.questions.mails import mails_in

    thread = "Parental leave?\\n--\\nTom Keller\\nSales\\n\\nOn Monday, Anna Berger wrote:\\n> Ask the others."
    assert list(mails_in(thread)) == ["Parental leave?", "> Ask the others."]
    ```

    :param text: A message.
    :returns: Its mails, the latest first, each without the lines that a program puts above and below, but its subject.
    """
    mail = list[str]()
    for is_above, lines in _runs(text.split("\n")):
        if is_above:
            yield from _unsigned(mail)
            mail = [line for line in lines if _TITLED.fullmatch(_bare(line))]
        else:
            mail += lines
    yield from _unsigned(mail)


def _runs(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Give runs of lines, and whether they stand above a mail: "From: Berlin" and "To: Rome" alone do not."""
    for kind, run in groupby(lines, _kind):
        told = list(run)
        is_mail = len(told) > 1 and any("@" in line or _TITLED.fullmatch(_bare(line)) for line in told)
        yield kind is _EARLIER or (kind is _HEADER and is_mail), told


def _unsigned(mail: list[str]) -> Iterator[str]:
    ends = (n for n, line in enumerate(mail) if _bare(line) == _SIGNATURE and len(mail) - n <= _MOST_SIGNED)
    end = next(chain(ends, [len(mail)]))
    told = mail if any("?" in line for line in mail[end:]) else mail[:end]
    if text := "\n".join(told).strip():
        yield text


def _kind(line: str) -> re.Pattern[str] | None:
    bare = _bare(line)
    if _EARLIER.fullmatch(bare):
        return _EARLIER
    return _HEADER if _HEADER.fullmatch(bare) or _TITLED.fullmatch(bare) else None


def _bare(line: str) -> str:
    return line.strip(" \t\r>")
