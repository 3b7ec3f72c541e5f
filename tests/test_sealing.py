"""Outputs that are handed on as they are."""

from copy import deepcopy

from haystack_integrations.crag.sealing import Sealed, given, opened


def test_what_is_sealed_copies_as_itself_and_is_opened_for_whoever_asked() -> None:
    """As a whole or in a part of a mapping; what nobody asked to seal is as it was."""
    record = {"verdict": "correct"}
    sealed = given(record, sealed=True)
    assert isinstance(sealed, Sealed)
    assert deepcopy(sealed) is sealed
    assert opened(sealed) is opened({"router": {"decision": sealed}})["router"]["decision"] is record
    assert opened({"documents": [1], "crag": sealed}) == {"documents": [1], "crag": record}
    assert given(record, sealed=False) is record


def test_what_is_sealed_is_written_down_and_read_as_what_it_holds() -> None:
    """As a snapshot of a pipeline that failed has it."""
    sealed = Sealed({"verdict": "correct"})
    assert Sealed.from_dict(sealed.to_dict()).content == {"verdict": "correct"}
    assert repr(sealed) == "{'verdict': 'correct'}"
