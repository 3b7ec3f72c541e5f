"""Addresses are read once, in one way; domains match on label boundaries."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.web.domains import canonical_url, checked_rules, domain_matches, parse_url

LABEL = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8).map(lambda text: f"l{text}")
HOST = st.lists(LABEL, min_size=2, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("url", "matches"),
    [
        ("https://example.com/a", True),
        ("https://a.example.com", True),
        ("https://EXAMPLE.com./a", True),
        ("https://example.com:8443/", True),
        ("https://user:password@example.com/", True),
        ("https://ｅxample．com/", True),
        ("https://evil-example.com/", False),
        ("https://example.com.evil.net/", False),
        ("https://example.com@evil.net/", False),
        ("https://evil.net/example.com", False),
        ("https://evil.net#example.com", False),
        ("https://evil.net?example.com", False),
        ("https://ex\u0430mple.com/", False),
        ("https://xn--exmple-4nf.com/", False),
        ("https://example.co/", False),
        ("https://com/", False),
        ("https://[2001:db8::1]/", False),
        ("https://example.com\\@evil.net/", False),
        ("https://example.com\t.evil.net/", False),
        ("https://ex%61mple.com/", False),
        ("javascript:alert('example.com')", False),
        ("data:text/html,example.com", False),
        ("file://example.com/etc/passwd", False),
        ("ftp://example.com/", False),
    ],
)
def test_a_rule_covers_its_domain_and_what_is_below(url: str, matches: bool) -> None:
    """And nothing that looks like it."""
    parsed = parse_url(url)
    assert (parsed is not None and domain_matches(parsed.host, "example.com")) is matches


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "//example.com/a",
        "https://",
        "https:///a",
        "https://a b.example/",
        "https://exam\u200bple.com/",
        "https://[::1",
        "https://[fe80::1%25eth0]/",
        "https://a..b/",
        "https://-a.example/",
        "https://xn--zzzz.de/",
        "https://example.com:99999/",
        "https://example.com:0/",
        "https://example.com:x/",
        "https://256.1.1.1/",
        "https://1.2.3.4.5/",
        "https://" + "a" * 64 + ".example/",
        "https://example.com/" + "a" * 3_000,
        "https://e.example/\ud800",
        "https://evil.example\\.example.com/",
        "https://example.com/a\\b",
        "https://example.com/a\x85b",
        "https://exam\nple.com/",
        None,
        5,
        ["https://example.com"],
    ],
)
def test_what_is_no_web_address_has_no_host(url: object) -> None:
    """Neither an error nor a guess."""
    assert parse_url(url) is None
    assert canonical_url(url) is None


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f000001/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://[::0001]/", "::1"),
        ("http://münchen.example/", "xn--mnchen-3ya.example"),
        ("http://A_B.example/", "a_b.example"),
    ],
)
def test_a_host_has_one_form(url: str, host: str) -> None:
    """Whatever it is written like."""
    parsed = parse_url(url)
    assert parsed is not None
    assert parsed.host == host


def test_an_address_is_written_without_what_deceives() -> None:
    """No user name, no fragment, nothing that ends an attribute; look-alikes in ASCII."""
    assert str(parse_url('https://example.com@evil.net/a"><b?q=`x`#f')) == "https://evil.net/a%22%3E%3Cb?q=%60x%60"
    assert str(parse_url("HTTPS://ex\u0430mple.com:443/ä b")) == "https://xn--exmple-4nf.com/%C3%A4%20b"
    assert str(parse_url("http://[::1]:8080")) == "http://[::1]:8080/"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a",
        "https://EXAMPLE.com./a/",
        "https://example.com:443/a?utm_source=x&fbclid=1#top",
        "http://user@example.com:80/%61?gclid=2&UTM_medium=y",
        "https://www.example.com/a",
    ],
)
def test_the_same_page_has_one_canonical_address(url: str) -> None:
    """Scheme, `www.`, default port, tracking, fragment and last slash do not count."""
    assert canonical_url(url) == "//example.com/a"


def test_different_pages_have_different_canonical_addresses() -> None:
    """Order of parameters does not count; port, path, case of the path and values do."""
    assert canonical_url("https://e.example/?b=2&a=1") == canonical_url("https://e.example?a=1&b=2")
    urls = ["/a", "/A", "/a?x=1", "/a?x=2", ":8080/a", "/a%2Fb", "/a/b"]
    assert len({canonical_url(f"https://e.example{url}") for url in urls}) == len(urls)


def test_rules_are_brought_into_one_form() -> None:
    """As hosts are."""
    assert checked_rules(["Example.COM.", "münchen.example", "gov"]) == ("example.com", "xn--mnchen-3ya.example", "gov")
    assert checked_rules([]) == ()


@pytest.mark.parametrize(
    "rule", ["", "https://example.com", "*.example.com", ".example.com", "a/b", "a:80", "a b", None, 5]
)
def test_a_rule_that_would_match_nothing_is_refused(rule: object) -> None:
    """With the form that is wanted."""
    with pytest.raises(ConfigurationError, match=r"wanted a name such as 'example\.com'"):
        checked_rules(["example.com", rule])  # type: ignore[list-item]


def test_a_single_name_is_no_list_of_rules() -> None:
    """Its letters would be ten rules."""
    with pytest.raises(ConfigurationError, match="wanted a list"):
        checked_rules("example.com")


@given(HOST, HOST, LABEL)
def test_only_a_label_boundary_matches(host: str, other: str, label: str) -> None:
    """For all names."""
    assert domain_matches(host, host)
    assert domain_matches(f"{label}.{host}", host)
    assert not domain_matches(f"{label}{host}", host)
    assert not domain_matches(f"{label}-{host}", host)
    assert domain_matches(f"{host}.{other}", host) is (f"{host}.{other}".endswith(f".{host}"))


@given(st.text(max_size=40), HOST, st.text(max_size=20))
def test_a_canonical_address_is_its_own(path: str, host: str, query: str) -> None:
    """Nothing changes the second time, and nothing raises."""
    key = canonical_url(f"https://{host}/{path}?{query}")
    if key is not None:
        assert key.isascii()
        assert canonical_url(f"https:{key}") == key


@given(st.text(max_size=60))
def test_no_text_is_an_error(text: str) -> None:
    """Providers give anything."""
    for url in (text, f"https://{text}", f"http://a.example/{text}"):
        parsed = parse_url(url)
        if parsed is not None:
            assert parse_url(str(parsed)) == parsed
