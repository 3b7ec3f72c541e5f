"""In how many documents of a corpus a term is: counted at indexing time, or asked of the store."""

from haystack_integrations.crag.corpus_statistics.counting import CorpusStatistics, TermCounter, collect
from haystack_integrations.crag.corpus_statistics.file import check_target, read_statistics, write_statistics
from haystack_integrations.crag.corpus_statistics.source import StatisticsSource
from haystack_integrations.crag.corpus_statistics.whole_store import count_store

__all__ = [
    "CorpusStatistics",
    "StatisticsSource",
    "TermCounter",
    "check_target",
    "collect",
    "count_store",
    "read_statistics",
    "write_statistics",
]
