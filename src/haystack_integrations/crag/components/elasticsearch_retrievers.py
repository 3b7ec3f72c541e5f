"""Haystack's two retrievers for Elasticsearch, bounded by the run's deadline, and with a report of what they missed."""

from typing import Any

from haystack import Document, component
from haystack.document_stores.types import FilterPolicy

from haystack_integrations.components.retrievers.elasticsearch import (
    ElasticsearchBM25Retriever,
    ElasticsearchEmbeddingRetriever,
)
from haystack_integrations.crag.elasticsearch import requests as asking
from haystack_integrations.crag.elasticsearch import search as searching
from haystack_integrations.crag.elasticsearch.spelling import search_words, search_words_async
from haystack_integrations.crag.encoding.encoders import is_word
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.searches import Filters, State, filters_for, limit_of, told
from haystack_integrations.crag.settings import check_positive, check_whole

_EXACT = "0"


@component
@checked
class ReportingBM25Retriever(ElasticsearchBM25Retriever):
    """
    Searches an index by words, and says when it reached only a part of it.

    Haystack's own retriever answers with what is left when a shard is lost, and raises when the server is down: the
    one reads as "no document answers", the other ends the run. Here both are a report that CragRouter reads. Searched
    is the documents' text, `content`, and no metadata; words that a mark joins (`os.path`) also by their parts.

    ```python
    from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

    store = ElasticsearchDocumentStore(hosts="http://127.0.0.1:9", max_retries=0)
    result = ReportingBM25Retriever(document_store=store).run(query="Who wrote Emma?")
    assert result == {"documents": [], "report": {"status": "failed", "kind": "connection"}}
    ```
    """

    def __init__(
        self,
        *,
        document_store: Any,
        filters: Filters = None,
        fuzziness: str = "0",
        top_k: int = 10,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        timeout_s: float = 5.0,
    ) -> None:
        """
        Take the settings of ElasticsearchBM25Retriever, and a timeout.

        :param document_store: An ElasticsearchDocumentStore.
        :param filters: Haystack filters.
        :param fuzziness: How far a word may differ. With `0` one that the index does not have is looked for once more
            as the index spells it; with `AUTO` one long question can end the server.
        :param top_k: Most documents.
        :param filter_policy: When a run brings its own filters: `replace`, they take the place of these; `merge`, both
            hold, whatever they are.
        :param timeout_s: The longest wait for a search, in seconds; less when the run has less left.
        :raises ConfigurationError: For a timeout or `top_k` that is no number above 0, or another fuzziness than `0`,
            `1`, `2`, `AUTO` and `AUTO:LOW,HIGH`.
        """
        check_positive({"timeout_s": timeout_s})
        check_whole("top_k", top_k)
        asking.check_fuzziness(fuzziness)
        settings = dict[str, Any](filters=filters, fuzziness=fuzziness, top_k=top_k, filter_policy=filter_policy)
        ElasticsearchBM25Retriever.__init__(self, document_store=document_store, **settings)
        self.timeout_s = timeout_s

    def warm_up(self) -> None:
        """Load the words of English, by which a slip of the keyboard is told from a word."""
        is_word("")

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as plain values."""
        data: dict[str, Any] = ElasticsearchBM25Retriever.to_dict(self)
        del data["init_parameters"]["scale_score"]  # graders read raw scores
        data["init_parameters"]["timeout_s"] = self.timeout_s
        return data

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None) -> dict[str, Any]:
        """
        Search.

        :param query: The question.
        :param filters: Haystack filters of this run.
        :param top_k: Most documents of this run.
        :param state: What the run knows: its deadline holds here, too.
        :returns: A dictionary with the following keys:
            - `documents`: What was found, in rank order.
            - `report`: `status` (`ok`, `incomplete`, `failed`), `kind` (`shards`, `timed_out`, `timeout`, `deadline`,
              `connection`, such as `http_503`; `index_empty`, `filters_leave_none`), `shards` (`total`, `failed`),
              `respelt` (how many words, if any).
        :raises elasticsearch.ApiError: For a mistake, such as an index that is not there.
        """
        store, limit, asked = self._document_store, limit_of(state, self.timeout_s), self._asked(filters, top_k)
        if self._fuzziness == _EXACT:
            found = search_words(store, query, *asked, limit)
        else:
            found = searching.search(store, asking.words_request(query, self._fuzziness, *asked), limit)
        return told(found, asked[1], store._index).result()

    @component.output_types(documents=list[Document], report=dict[str, Any])
    async def run_async(
        self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search on the event loop; see `run`."""
        store, limit, asked = self._document_store, limit_of(state, self.timeout_s), self._asked(filters, top_k)
        if self._fuzziness == _EXACT:
            found = await search_words_async(store, query, *asked, limit)
        else:
            found = await searching.search_async(store, asking.words_request(query, self._fuzziness, *asked), limit)
        return told(found, asked[1], store._index).result()

    def _asked(self, filters: Filters, top_k: int | None) -> tuple[Filters, int]:
        chosen = filters_for(self._filter_policy, self._filters, filters)
        return chosen, self._top_k if top_k is None else top_k


@component
@checked
class ReportingEmbeddingRetriever(ElasticsearchEmbeddingRetriever):
    """Searches an index by a vector, and says when it reached only a part of it; see `ReportingBM25Retriever`."""

    def __init__(
        self,
        *,
        document_store: Any,
        filters: Filters = None,
        top_k: int = 10,
        num_candidates: int | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        timeout_s: float = 5.0,
    ) -> None:
        """
        Take the settings of ElasticsearchEmbeddingRetriever, and a timeout.

        :param document_store: An ElasticsearchDocumentStore.
        :param filters: Haystack filters.
        :param top_k: Most documents.
        :param num_candidates: Neighbours to look at on each shard, at least `top_k`; None takes ten times that.
        :param filter_policy: As of `ReportingBM25Retriever`.
        :param timeout_s: The longest wait for a search, in seconds; less when the run has less left.
        :raises ConfigurationError: For a timeout that is no number above 0, or a number that is none from 1 to 10,000.
        """
        check_positive({"timeout_s": timeout_s})
        for name, number in (("top_k", top_k), ("num_candidates", top_k if num_candidates is None else num_candidates)):
            check_whole(name, number, asking.MOST_CANDIDATES)
        settings = dict[str, Any](filters=filters, top_k=top_k, num_candidates=num_candidates)
        settings["filter_policy"] = filter_policy
        ElasticsearchEmbeddingRetriever.__init__(self, document_store=document_store, **settings)
        self.timeout_s = timeout_s

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as plain values."""
        data: dict[str, Any] = ElasticsearchEmbeddingRetriever.to_dict(self)
        data["init_parameters"]["timeout_s"] = self.timeout_s
        return data

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(
        self, query_embedding: list[float], filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search by the question's embedding; see `ReportingBM25Retriever.run`."""
        limit, request = limit_of(state, self.timeout_s), self._request(query_embedding, filters, top_k)
        found = searching.search(self._document_store, request, limit)
        return told(found, request["size"], self._document_store._index).result()

    @component.output_types(documents=list[Document], report=dict[str, Any])
    async def run_async(
        self, query_embedding: list[float], filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search on the event loop; see `run`."""
        limit, request = limit_of(state, self.timeout_s), self._request(query_embedding, filters, top_k)
        found = await searching.search_async(self._document_store, request, limit)
        return told(found, request["size"], self._document_store._index).result()

    def _request(self, vector: list[float], filters: Filters, top_k: int | None) -> dict[str, Any]:
        chosen = filters_for(self._filter_policy, self._filters, filters)
        return asking.vector_request(vector, self._num_candidates, chosen, self._top_k if top_k is None else top_k)
