"""Documents made to be dear: a record may bring any title, and is judged on the event loop of a server."""

import time
import tracemalloc

import pytest
from haystack import Document

from haystack_integrations.crag.components import HeuristicGrader, StripRefiner


@pytest.mark.parametrize("unit", ["word ", "1. ", "a... ", "\u4e2d", "\u4e2d\u3002", " ", "(", "a (b) "])
def test_a_title_as_long_as_its_text_costs_little_more_than_the_text(unit: str) -> None:
    """It was looked for in all texts word by word, and every sentence was read under the whole of it: minutes."""
    text = unit * (24_000 // len(unit))
    documents = [Document(content=f"{text} {number}", meta={"title": f"{text} {number}"}) for number in range(3)]
    grader = HeuristicGrader()
    grader.run(query="a", documents=[Document(content="b")])
    started = time.process_time()
    graded = grader.run(query="When is the word paid?", documents=documents)["documents"]
    assert time.process_time() - started < 10
    assert len(graded) == len(documents)


def test_a_strip_is_read_under_the_beginning_of_a_title_only() -> None:
    """Each strip was embedded under the whole of it: a title of a megabyte, two thousand times."""
    page = Document(content="A refund is paid. " * 1_000, meta={"title": "refund " * 15_000})
    refiner = StripRefiner(scorer="embedding")
    refiner.run(query="a", documents=[Document(content="b")])
    tracemalloc.start()
    try:
        refiner.run(query="When is a refund paid?", documents=[page])
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
