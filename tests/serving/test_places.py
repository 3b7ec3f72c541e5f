"""Who may run a request: never more than there are places, and for each client its share."""

import pytest

from haystack_integrations.crag.serving import places as module
from haystack_integrations.crag.serving.places import Places


def taken(places: Places, client: str) -> int:
    """Take all places that a client gets."""
    count = 0
    while places.take(client):
        count += 1
    return count


def test_nobody_gets_a_place_that_is_not_there() -> None:
    """Nor a client that holds less than its share: it gets the next one that is given back."""
    places = Places(2)
    assert [places.take(client) for client in ("a", "b", "c")] == [True, True, False]
    places.leave("a")
    assert [places.take(client) for client in ("c", "a", "b")] == [True, False, False]


def test_the_last_eighth_is_for_clients_below_their_share_and_all_of_it_for_one_that_is_alone() -> None:
    places = Places(16)
    assert taken(places, "alone") == 16
    for _ in range(16):
        places.leave("alone")
    assert places.take("other")
    assert taken(places, "alone") == 13
    assert taken(places, "other") == 2


def test_a_client_whose_request_takes_long_keeps_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a stream that runs for minutes: else whoever asks later would get all other places."""
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    places = Places(8)
    assert places.take("slow")
    now = 100.0
    assert taken(places, "other") == 6
    assert places.take("slow")
    places.leave("slow")
    places.leave("slow")
    now = 200.0
    assert taken(places, "other") == 2


def test_the_last_place_is_not_for_a_client_that_holds_just_its_share() -> None:
    """It would have more than the other, which may still ask for the rest of its own."""
    places = Places(8)
    assert [places.take(client) for client in "abababa"] == [True] * 7
    assert [places.take(client) for client in "ab"] == [False, True]
