"""Which questions two evaluations have in common."""

from collections.abc import Mapping, Sequence
from typing import Final

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.evaluation.measures import before_corrections

_SHOWN: Final = 5


def of_both(questions: Mapping[str, str], base: Sequence[Record]) -> list[Record]:
    """
    Choose what can be compared: the records of an earlier evaluation whose questions are asked now, too.

    :param questions: The questions that are asked now, by id.
    :param base: The earlier evaluation.
    :returns: Its records of the same questions.
    :raises ConfigurationError: When there is none.
    """
    found = [record for record in base if questions.get(record["id"]) == record["question"]]
    if not found:
        msg = (
            f"got no question in common, wanted some to compare: {len(questions)} here, {len(base)} in the base; "
            "evaluate both on the same data and split"
        )
        raise ConfigurationError(msg)
    return found


def of_both_judged(records: Sequence[Record], base: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """
    Choose the questions that are compared: one that failed in one evaluation would count in the other only.

    :param records: The evaluation.
    :param base: The one to compare with.
    :returns: The records of each of the questions that both have judged.
    """
    ours, theirs = ({one["id"] for one in given if one["error"] is None} for given in (records, base))
    own, other = ([one for one in given if one["id"] in ours & theirs] for given in (records, base))
    return own, other


def other_truths(records: Sequence[Record], base: Sequence[Record]) -> int:
    """
    Count the questions whose right verdict is another one in the base, of lists of another length or of other lists.

    :param records: The evaluation.
    :param base: The one to compare with, of the same questions.
    :returns: How many; of live lists the first ones are compared, which no correction has changed.
    """
    true = {record["id"]: before_corrections(record)["label"] for record in base}
    return sum(before_corrections(record)["label"] != true[record["id"]] for record in records)


def matched(records: Sequence[Record], base: Sequence[Record]) -> list[Record]:
    """
    Put the base's records into the order of the others.

    :param records: The evaluation.
    :param base: The one to compare with.
    :returns: The records of the base.
    :raises ConfigurationError: When the two are not of the same questions.
    """
    known = {record["id"]: record for record in base}
    ids = {record["id"]: None for record in records}
    for name, ours, given in (("this one", ids, records), ("the base", known, base)):
        if len(ours) != len(given):
            msg = (
                f"each question must be evaluated once, but {name} has {len(given)} records of {len(ours)} questions; "
                "evaluate it again into a new file"
            )
            raise ConfigurationError(msg)
    new, missing = [one for one in ids if one not in known], [one for one in known if one not in ids]
    if new or missing:
        msg = (
            f"the two evaluations must be of the same questions, but got {_some(new)} only in this one and "
            f"{_some(missing)} only in the base; evaluate both on the same data and split"
        )
        raise ConfigurationError(msg)
    return [known[one] for one in ids]


def _some(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > _SHOWN else ""
    return f"{len(ids)} ({', '.join(map(str, ids[:_SHOWN]))}{more})" if ids else "0"
