"""Of a mail, what its writer asks is read: not what programs put above it, nor the mail before, nor the signature."""

import pytest

from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.mails import mails_in

ASKED = "How long is parental leave?"
EARLIER = "Hello Tom,\n> I looked through the binder. Could you ask the others?\n> Regards, Anna"


@pytest.mark.parametrize(
    "above",
    [
        "On Tue, 12 Mar 2024 at 10:15, Anna Berger <anna@example.com> wrote:",
        "> On Tue, Anna wrote:",
        "Am 12.03.2024 um 10:15 schrieb Anna Berger:",
        "Le mardi 12 mars, Anna a écrit :",
        "El mar, 12 mar 2024, Anna escribió:",
        "-----Original Message-----",
        "---------- Forwarded message ---------",
        "From: Anna Berger <anna@example.com>\nSent: Tuesday\nTo: Tom Keller\nSubject: Question",
        "Von: Anna Berger\nGesendet: Dienstag\nAn: Tom Keller\nBetreff: Frage",
    ],
)
def test_the_mail_that_a_mail_answers_is_not_asked_about(above: str) -> None:
    """It stands below, under a line that a mail program writes."""
    assert bare_question(f"Hi Anna,\n{ASKED}\nBest,\nTom\n\n{above}\n> {EARLIER}") == ASKED


def test_a_forwarded_mail_is_what_is_asked() -> None:
    """Whoever forwards it says nothing, or only that he does."""
    header = "---------- Forwarded message ---------\nFrom: Anna <anna@example.com>\nTo: Tom\n"
    assert bare_question(f"FYI\n\n{header}\n{ASKED}\n-- \nAnna Berger\nSales") == ASKED
    assert bare_question(f"{header}\n{ASKED}") == ASKED


def test_the_subject_stays_and_the_rest_of_a_header_goes() -> None:
    """What is asked below may stand on it."""
    header = "From: Tom <t@example.com>\nTo: help@example.com\nSubject: Re: Parental leave"
    assert bare_question(f"{header}\n\nHi all,\nhow long is it?\n\nTom") == "Parental leave\nhow long is it?"


@pytest.mark.parametrize(
    "question",
    [
        "From: Berlin\nTo: Rome\nWhich train do I take?",
        "From: the old desk to the new one.\nWho carries it?",
        "Our rule\n--\nWho wrote it?",
        "On what day was it that Anna wrote: never again?",
        "Which desk is it?\nAnna\nTom",
        "Dear Anna,",
        "--",
        "> quoted",
    ],
)
def test_what_only_looks_like_mail_stays(question: str) -> None:
    """Two lines of a journey, a rule between a text and its question, a list of names."""
    assert bare_question(question) == question


def test_a_long_thread_is_read_line_by_line() -> None:
    """A thousand mails in one are a thousand mails."""
    thread = "\n".join(f"On Monday, Anna wrote:\n> Mail {n}" for n in range(1_000))
    assert len(list(mails_in(thread))) == 1_000
