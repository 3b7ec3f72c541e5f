"""What comes in from a web search: labelled, capped, cleaned, each page once; nothing else of a result."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import crag_meta, question_id
from haystack_integrations.crag.texts.sanitise import FORBIDDEN
from haystack_integrations.crag.web.documents import CUT_MARK, citation, web_documents
from haystack_integrations.crag.web.domains import Rules


def made(results: list[Any], **options: Any) -> tuple[list[Document], dict[str, int]]:
    settings: dict[str, Any] = {"max_results": 10, "rules": Rules()}
    return web_documents(results, query="who?", provider="probe", iteration=1, **settings | options)


def result(number: int = 1, content: Any = None, **meta: Any) -> Document:
    return Document(content=content or f"Text {number}.", meta={"url": f"https://e{number}.example/a", **meta})


def test_a_web_document_carries_its_provenance_and_nothing_of_the_provider() -> None:
    """Not even a grade that it claims to have."""
    given_meta = {
        "title": "<b>Emma</b>",
        "crag": {"score": 1.0, "status": "graded"},
        "score": 9,
        "raw": "x",
        "position": 3,
    }
    (document,), dropped = made([result(0, url=None), result(1, **given_meta)])
    assert dropped == {"no_url": 1}
    assert set(document.meta) == {"title", "url", "crag"}
    assert document.meta["title"] == "Emma"
    assert document.score is None
    crag = crag_meta(document)
    assert crag.keys() == {"origin", "provenance"}
    assert crag["origin"] == "web"
    retrieved_at = crag["provenance"].pop("retrieved_at")
    assert abs((datetime.now(UTC) - datetime.fromisoformat(retrieved_at)).total_seconds()) < 60
    assert crag["provenance"] == {
        "provider": "probe",
        "url": "https://e1.example/a",
        "domain": "e1.example",
        "rank": 2,
        "query_sha256": question_id("who?"),
        "iteration": 1,
        "trust": "untrusted",
    }


@pytest.mark.parametrize("key", ["url", "link", "href", "source", "source_url", "page_url"])
def test_the_link_is_found_under_whatever_key_a_provider_uses(key: str) -> None:
    """A key with something else in it does not count."""
    documents, _ = made([Document(content="x", meta={"source": "Example News", key: "https://e.example/a"})])
    assert documents[0].meta["url"] == "https://e.example/a"


def test_the_same_page_is_one_document() -> None:
    """By its address or by its text; within a run it has one id, whatever the provider and the time."""
    results = [
        result(1),
        result(2, url="http://E1.example/a/?utm_source=x#top", content="Other words."),
        result(3, content="Text\u200b 1."),
        result(4),
    ]
    documents, dropped = made(results)
    assert [document.content for document in documents] == ["Text 1.", "Text 4."]
    assert dropped == {"duplicate": 2}
    again, _ = web_documents([results[0]], query="other", provider="p2", iteration=2, max_results=1, rules=Rules())
    assert again[0].id == documents[0].id
    assert len({document.id for document in documents}) == 2


def test_domains_are_allowed_and_denied() -> None:
    """Denied wins; a look-alike is not allowed."""
    urls = [
        "https://example.com/1",
        "https://bad.example.com/2",
        "https://evil-example.com/3",
        "https://example.com@evil.net/4",
    ]
    results = [Document(content=url, meta={"link": url}) for url in urls]
    documents, dropped = made(results, rules=Rules.of(["example.com"], ["bad.example.com"]))
    assert [document.meta["url"] for document in documents] == ["https://example.com/1"]
    assert dropped == {"domain": 3}
    with pytest.raises(ConfigurationError, match="is no domain"):
        Rules.of(None, ["https://example.com"])


def test_null_fields_and_wrong_types_are_harmless() -> None:
    """The title stands in for a text that is missing; without both there is nothing."""
    odd = Document(content="x", meta=[1])  # type: ignore[arg-type]
    results: list[Any] = [
        Document(content=None, meta={"link": "https://e1.example", "title": "Only a title"}),
        Document(content=None, meta={"link": "https://e2.example", "title": None}),
        Document(content="\u200b<b></b>", meta={"link": "https://e3.example", "title": 7}),
        Document(content="x", meta={"link": ["https://e4.example"], "url": 5, "href": {}}),
        Document(content="x", meta={"link": "javascript:alert(1)"}),
        None,
        "https://e5.example",
        odd,
    ]
    documents, dropped = made(results)
    assert [document.content for document in documents] == ["Only a title"]
    assert dropped == {"empty": 2, "no_url": 5}


@pytest.mark.parametrize("letter", ["a", "é", "語", "😀"])
def test_a_long_snippet_is_cut_between_characters(letter: str) -> None:
    """To 8 KiB with the mark, and a title to 200 characters."""
    (document,), _ = made([result(1, content=letter * 20_000, title="t" * 500)])
    assert document.content is not None
    assert document.content.removesuffix(CUT_MARK).strip(letter) == ""
    assert document.content.endswith(CUT_MARK)
    assert 8_192 - 4 <= len(document.content.encode()) <= 8_192
    assert len(document.meta["title"]) == 200


def test_all_together_stay_within_their_caps() -> None:
    """64 KiB and 10 documents at most, whatever is asked for; the rest is counted."""
    documents, dropped = made([result(n, content=f"{n} " + "x" * 9_000) for n in range(12)], max_results=50)
    assert len(documents) == 8
    assert sum(len((document.content or "").encode()) for document in documents) <= 65_536
    assert dropped == {"size": 4}
    documents, dropped = made([result(n) for n in range(1_000)], max_results=50)
    assert len(documents) == 10
    assert dropped == {"size": 990}
    assert [crag_meta(document)["provenance"]["rank"] for document in documents] == list(range(1, 11))
    assert made([result(1)], max_results=0)[0] == []


def test_a_huge_answer_costs_little() -> None:
    """1,000 results of 10 MB, of which none is usable until late: only what can be needed is looked at."""
    snippet = "<b>\u200b\u0301&amp;" * 1_000_000
    # An id of their own keeps Haystack from hashing 10 GB here.
    results = [Document(id=str(n), content=snippet, meta={"url": f"https://e{n}.example"}) for n in range(1_000)]
    start = time.process_time()
    documents, dropped = made(results)
    assert time.process_time() - start < 15
    assert len(documents) == 1
    assert dropped == {"duplicate": 199, "size": 800}


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "url": st.text(max_size=30).map(lambda text: f"https://e.example/{text}") | st.none() | st.integers(),
                "link": st.text(max_size=30),
                "title": st.text(max_size=300) | st.none(),
                "snippet": st.text(max_size=50),
                "crag": st.just({"trust": "trusted"}),
            },
        ),
        max_size=15,
    ),
    st.integers(0, 20),
)
def test_whatever_comes_every_document_is_labelled_and_clean(metas: list[dict[str, Any]], most: int) -> None:
    """P7, and every result is accounted for."""
    documents, dropped = made([Document(content=meta.get("snippet"), meta=meta) for meta in metas], max_results=most)
    assert len(documents) + sum(dropped.values()) == len(metas)
    assert len(documents) <= min(most, 10)
    for document in documents:
        assert crag_meta(document)["provenance"]["trust"] == "untrusted"
        assert document.content
        assert not FORBIDDEN.search(document.content + document.meta.get("title", "") + document.meta["url"])
        assert len(document.content.encode()) <= 8_192
    assert len({document.id for document in documents}) == len(documents)


def test_a_citation_names_the_domain_and_the_day() -> None:
    """Other documents keep their source."""
    (document,), _ = made([result(1)])
    assert citation(document) == f"web: e1.example ({datetime.now(UTC):%Y-%m-%d})"
    assert citation(Document(content="x", meta={"source": "novels.md"})) == "novels.md"
    plain = Document(content="x")
    assert citation(plain) == plain.id
