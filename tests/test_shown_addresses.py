"""Addresses in messages: where a server is, and not by which password."""

from dataclasses import replace
from typing import Any

import pytest

from haystack_integrations.crag.chat_model import ChatModel
from haystack_integrations.crag.store_profiles import Server, display_url, nodes_of


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:9200", "http://127.0.0.1:9200"),
        ("https://[::1]:9200/path", "https://[::1]:9200/path"),
        ("https://elastic:secret@one:9200", "https://one:9200"),
        (["http://u:secret@one:9200", "http://u:secret@two:9200"], "http://one:9200,http://two:9200"),
        ("redis://one:6379/0?password=secret", "redis://one:6379/0"),
        ("unix:///run/redis.sock?password=secret", "unix:///run/redis.sock"),
        ("http://u:se#cret@one:9200", "http://one:9200"),
        ("http://u:12/secret@one:9200", "http://one:9200"),
        ("http://u:12?secret@one:9200", "http://one:9200"),
        ("http://u:a://secret@one", "http://one"),
        ("u:secret@one:9200", "one:9200"),
        ("u:secret@http://one", "http://one"),
        ("one:9200", "one:9200"),
    ],
)
def test_no_password_stands_in_an_address_that_is_shown(address: Any, shown: str) -> None:
    """Nor one that should have been escaped, at whose `#` the address would seem to end, nor one behind a `?`."""
    assert display_url(address) == shown


def test_what_a_model_and_a_server_are_reached_by_is_not_shown_with_them() -> None:
    """A traceback with its values, or a line for debugging, prints them whole."""
    model = ChatModel("m", "http://u:c0ffee@one/v1", "c0ffee", {"extra_headers": {"api-key": "c0ffee"}})
    server = Server(["http://u:c0ffee@one:9200"], "crag", "c0ffee", {"basic_auth": ("u", "c0ffee")}, None, None, None)
    assert "c0ffee" not in f"{replace(model, judging=model)} {server}"


@pytest.mark.parametrize(
    ("url", "nodes"),
    [
        ("http://elastic:pa,ss@a:9200", ["http://elastic:pa,ss@a:9200"]),
        ("http://x:p,a,s@a:9200, http://x:p,s@b:9200,", ["http://x:p,a,s@a:9200", "http://x:p,s@b:9200"]),
        ("http://a:9200,http://x:p@b:9200,http://c:9200", ["http://a:9200", "http://x:p@b:9200", "http://c:9200"]),
        ("http://a:9200,b:9200,http://a:9200", ["http://a:9200", "b:9200"]),
    ],
)
def test_a_comma_in_a_password_does_not_end_an_address(url: str, nodes: list[str]) -> None:
    """It may stand there as it is. Ended there, the first half of the password was taken for a host, and was shown."""
    assert nodes_of(url) == nodes
