"""LongPassageSplitter: what a splitter that counts words leaves long is cut, and nothing else."""

import pytest
from haystack import Document
from haystack.components.preprocessors import MarkdownHeaderSplitter, RecursiveDocumentSplitter
from haystack.components.retrievers import SentenceWindowRetriever
from haystack.dataclasses import SparseEmbedding
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components import LongPassageSplitter
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.texts.text import count_tokens

SENTENCE = "退款在十四天内支付。"  # 9 ideographs and a sign: 11 tokens, as they are estimated


def cut(text: str, max_tokens: int = 300) -> list[str]:
    passages = LongPassageSplitter(max_tokens).run([Document(content=text)])["documents"]
    return [passage.content for passage in passages]


@pytest.mark.parametrize("text", ["", " \n", "A short one.", "An English word and another. " * 36])
def test_a_passage_that_is_not_too_long_stays_the_same_object(text: str) -> None:
    """180 words of prose are not too long."""
    document = Document(content=text)
    assert LongPassageSplitter().run([document])["documents"][0] is document


def test_a_document_without_text_stays_as_it_is() -> None:
    """Such as a picture."""
    document = Document(content=None)
    assert LongPassageSplitter().run([document])["documents"] == [document]


def test_text_without_spaces_is_cut_at_the_ends_of_its_sentences() -> None:
    """Chinese here; a splitter that counts words takes it for one."""
    passages = cut(SENTENCE * 300)
    assert [len(passage) for passage in passages] == [270] * 11 + [30]
    assert all(passage.endswith("。") for passage in passages)


def test_prose_with_spaces_is_cut_at_the_ends_of_its_sentences_too() -> None:
    """As a splitter leaves it that counts pages or paragraphs."""
    passages = cut("The refund is paid in two weeks. " * 100)
    assert len(passages) > 1
    assert all(passage.endswith("weeks. ") for passage in passages)


@pytest.mark.parametrize(
    ("text", "ends"),
    [("1,2,3\t4\n" * 400, "\n"), ("word\n" * 1000, "\n"), ("x" * 5000, "x"), ("ภาษาไทย" * 500, "")],
    ids=["table", "list", "one word", "Thai"],
)
def test_without_sentences_it_is_cut_at_lines_words_or_anywhere(text: str, ends: str) -> None:
    """No line of a table is torn apart, while that is possible."""
    passages = cut(text)
    assert len(passages) > 1
    assert all(passage.endswith(ends) for passage in passages)


PIECES = [SENTENCE, "word ", "\n\n", "| a | b |\n", "x" * 90, "```\n", ". ", "\f", "ไทย"]


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.integers(1, 60))
def test_nothing_is_left_out_and_nothing_is_too_long(text: str, max_tokens: int) -> None:
    """Pieces are estimated one by one, and rounded, so a passage may have half as much again; the model reads 512."""
    passages = cut(text, max_tokens)
    assert "".join(passages) == text
    assert all(count_tokens(passage) <= max(2, max_tokens * 1.5) for passage in passages)


def test_what_a_splitter_wrote_down_is_counted_on() -> None:
    """Ids differ, numbers go on through the source, and the page is that of the first letter, as in Haystack."""
    text = f"First page.\n\n\f{SENTENCE * 60}\f{SENTENCE * 60}\n\nLast words."
    passages = RecursiveDocumentSplitter(split_length=2, split_unit="word", separators=["\n\n"]).run(
        [Document(content=text), Document(content="Another source.")]
    )["documents"]
    found = LongPassageSplitter(max_tokens=300).run(passages)["documents"]
    assert "".join(passage.content for passage in found[:-1]) == text
    numbers = [passage.meta["split_id"] for passage in found]
    assert (numbers[:-1], numbers[-1]) == (list(range(len(found) - 1)), 0)
    assert len({passage.id for passage in found}) == len(found)
    for passage in found[:-1]:
        start = passage.meta["split_idx_start"]
        assert text[start : start + len(passage.content)] == passage.content
        first = start + len(passage.content) - len(passage.content.lstrip())
        assert passage.meta["page_number"] == 1 + text[:first].count("\f")
    assert found[-1] is passages[-1]


def test_parts_of_a_passage_whose_place_is_unknown_name_none() -> None:
    """Haystack's MarkdownHeaderSplitter names none: counted from each section anew, windows lost whole sections."""
    page = "".join(f"## Part {n}\n\n" + SENTENCE * 3 + f"Number {n} ends here.\n" for n in range(3))
    sections = MarkdownHeaderSplitter().run([Document(content=page)])["documents"]
    found = LongPassageSplitter(max_tokens=20).run(sections)["documents"]
    assert len(found) > len(sections)
    store = InMemoryDocumentStore()
    store.write_documents(found)
    (window,) = SentenceWindowRetriever(store, window_size=20).run(retrieved_documents=found[:1])["context_windows"]
    assert window == page


def test_parts_of_an_embedded_document_have_no_vector_of_the_whole() -> None:
    """It would find each of them for all that the whole was about. Where they stand in it is known."""
    text = f"{SENTENCE * 60}\f{SENTENCE * 60}"
    vectors = {"embedding": [1.0], "sparse_embedding": SparseEmbedding([0], [1.0])}
    whole = Document(content=text, meta={"title": "Refunds"}, **vectors)
    found = LongPassageSplitter().run([whole])["documents"]
    for number, part in enumerate(found):
        assert part.embedding is part.sparse_embedding is None
        start = part.meta["split_idx_start"]
        assert text[start : start + len(part.content)] == part.content
        page = 1 + text[:start].count("\f")
        assert part.meta == {
            "title": "Refunds",
            "source_id": whole.id,
            "split_id": number,
            "split_idx_start": start,
            "page_number": page,
        }
    assert found[-1].meta["page_number"] == 2


@pytest.mark.parametrize("max_tokens", [0, -1, 1.5, True, "300"])
def test_a_limit_that_is_none_is_refused(max_tokens: object) -> None:
    """By name."""
    with pytest.raises(ConfigurationError, match="max_tokens"):
        LongPassageSplitter(max_tokens)  # type: ignore[arg-type]
