"""What is asked of Elasticsearch: a search by words, and one by a vector."""

import re
from typing import Any, Final

from haystack.errors import FilterError

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import refuse_void
from haystack_integrations.crag.settings import check_whole
from haystack_integrations.crag.texts.questions.letters import in_plain_letters
from haystack_integrations.crag.texts.text import HANGUL

TEXT: Final = "content"
"""The field in which Haystack keeps a document's text."""

OF_WORDS: Final = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})
"""Types of a field that is searched by words; of any other, only by whole values."""

# Elasticsearch's usual analyzer takes `os.path.join`, `report.txt` and `Anna's` for one word each, which a text with
# the last part alone does not have. From the beginning of a word on, so that a long one is gone through once.
_JOINED: Final = re.compile(r"(?<!\w)\w++(?:[.:'\u2019]\w++)+")
_JOINTS: Final = re.compile(r"[.:'\u2019]")

# The usual analyzer leaves Korean particles and endings on their words: `환불이` finds no `환불은`, `E42` no `E42는`.
# The first two syllables are looked for as well, and Latin words as beginnings; scored as words are.
_STEM: Final = re.compile(rf"(?<!\w)(?:{HANGUL.pattern}{{2}}|[0-9a-z]{{2,}})")
_MOST_STEMS: Final = 32

# The server looks at no more neighbours, whatever is asked of it, and refuses to look at fewer than it shall give.
MOST_CANDIDATES: Final = 10_000
"""The most neighbours, and so the most documents, of a search by a vector."""

_FUZZINESS: Final = re.compile(r"(?i)[012]|AUTO(?::\d+,\d+)?")


def check_fuzziness(fuzziness: str) -> None:
    """
    Refuse a fuzziness that the server would refuse at each question.

    :param fuzziness: How far a word may differ.
    :raises ConfigurationError: With what is accepted.
    """
    if not _FUZZINESS.fullmatch(fuzziness):
        msg = f"fuzziness must be '0', '1', '2', 'AUTO' or 'AUTO:LOW,HIGH', but got {fuzziness!r}"
        raise ConfigurationError(msg)


def words_request(query: str, fuzziness: str, filters: dict[str, Any] | None, top_k: int) -> dict[str, Any]:
    """
    Ask by words, as ElasticsearchBM25Retriever does, but of the documents' text alone.

    :param query: The question.
    :param fuzziness: How far a word may differ.
    :param filters: Haystack filters, or None.
    :param top_k: Most documents.
    :returns: The request's body.
    :raises ConfigurationError: For a `top_k` that is no whole number above 0.
    :raises FilterError: For filters with an empty list of conditions, or that Haystack does not know.
    """
    check_whole("top_k", top_k)
    question = in_plain_letters(query)
    # Named, since an index made elsewhere searches all its fields: each costs a clause for each word (400 fields and
    # 300 words ended a server), and finds documents by metadata that no grader reads.
    words = {
        "query": _with_parts(question),
        "fields": [TEXT],
        "fuzziness": fuzziness,
        "type": "most_fields",
        "operator": "OR",
    }
    found: dict[str, Any] = {"multi_match": words}
    # Not by `prefix`, which a cluster may refuse as too expensive.
    if beginnings := [{"match_phrase_prefix": {TEXT: stem}} for stem in _stems(question)]:
        found = {"bool": {"should": [found, *beginnings]}}
    asked: dict[str, Any] = {"must": [found], **_filter_of(filters)}
    return {"size": top_k, "query": {"bool": asked}}


def _stems(question: str) -> list[str]:
    """Give the beginnings of a Korean question's words."""
    found = _STEM.findall(question.lower()) if HANGUL.search(question) else ()
    return list(dict.fromkeys(found))[:_MOST_STEMS]


def _with_parts(query: str) -> str:
    """Add the parts of words that a mark joins, as the store in memory finds them; digits and single letters aside."""
    parts = [part for joined in _JOINED.findall(query) for part in _JOINTS.split(joined)]
    return " ".join([query, *(part for part in parts if len(part) > 1 and not part.isdigit())])


def vector_request(
    vector: list[float], candidates: int | None, filters: dict[str, Any] | None, top_k: int
) -> dict[str, Any]:
    """
    Ask by a vector, as ElasticsearchEmbeddingRetriever does, in one request for any `top_k`.

    :param vector: The question's embedding.
    :param candidates: Neighbours to look at on each shard, at least `top_k`; None takes ten times that, at most 10,000.
    :param filters: Haystack filters, or None.
    :param top_k: Most documents.
    :returns: The request's body.
    :raises ConfigurationError: For a `top_k` or `num_candidates` that is no whole number from 1 to 10,000.
    """
    check_whole("top_k", top_k, MOST_CANDIDATES)
    wide = min(10 * top_k, MOST_CANDIDATES) if candidates is None else candidates
    check_whole("num_candidates", wide, MOST_CANDIDATES)
    nearest = {"field": "embedding", "query_vector": vector, "k": top_k, "num_candidates": max(top_k, wide)}
    return {"size": top_k, "knn": {**nearest, **_filter_of(filters)}}


def _filter_of(filters: dict[str, Any] | None) -> dict[str, Any]:
    """Give the part of a request that restricts it, without the filter that would open the whole index."""
    from elasticsearch import SerializationError
    from elasticsearch.serializer import JsonSerializer

    from haystack_integrations.document_stores.elasticsearch.filters import _normalize_filters

    refuse_void(filters)
    try:
        made = {"filter": _normalize_filters(filters)} if filters else {}
        JsonSerializer().dumps(made)
    except SerializationError:  # its text would hold the value; the client's own is like that of a lost connection
        msg = "got filters with a value that JSON does not hold, wanted a text, number, boolean, date or a list"
        raise FilterError(msg) from None
    except (KeyError, TypeError) as error:
        # An operator is looked up in a table: for one that it does not hold, a bare error is all that comes; a list,
        # which JSON can give as well, is another kind.
        msg = "got filters with an operator that is none, wanted one of ==, !=, >, >=, <, <=, in, not in, AND, OR, NOT"
        raise FilterError(msg) from error
    except AttributeError as error:
        msg = "got filters with a field that is no text, wanted its name, such as meta.year, in each comparison"
        raise FilterError(msg) from error
    return made
