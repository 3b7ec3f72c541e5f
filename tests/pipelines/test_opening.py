"""A store in memory, and a calibration, as the command line and the server open them."""

import json
import re
from pathlib import Path

import pytest
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.parts import exchanged
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.pipelines import export, load
from haystack_integrations.crag.pipelines.checks import by_the_set
from haystack_integrations.crag.pipelines.loader import read, source
from haystack_integrations.crag.pipelines.opening import calibrated_parts, memory_store
from haystack_integrations.crag.refining.model import load_strip_model
from haystack_integrations.crag.serving.guarded_store import GuardedMemoryStore
from haystack_integrations.crag.store_profiles import open_store


def test_a_store_in_memory_finds_a_number_with_dots_as_a_whole() -> None:
    """To Haystack's own expression 5.13.9 is three numbers, each of which any log of changes has many times."""
    texts = [
        "5.13.9 fixes 5 faults.",
        "13 of 9 faults: 5.9.13, 9.5.13.",
        "v5.13.10, 13.9 and 5.13 fix 9 faults, 5 of 13.",
    ]
    store = memory_store()
    store.write_documents([Document(content=text) for text in texts])
    found = store.bm25_retrieval("5.13.9", scale_score=False)
    assert [each.content for each in found if each.score] == texts[:1]
    assert store.bm25_retrieval("10. V5.13.10!")[0].content == texts[2]


def test_no_two_of_them_share_their_documents() -> None:
    """A server's, which is guarded, neither."""
    stores = [memory_store(), memory_store(), memory_store(GuardedMemoryStore)]
    stores[0].write_documents([Document(content="A refund is paid.")])
    assert [each.count_documents() for each in stores] == [1, 0, 0]
    assert isinstance(stores[2], GuardedMemoryStore)


@pytest.mark.parametrize(
    ("name", "part", "chosen"),
    [("corrective_retrieval", "router", {"other": {"aggregate": "set"}}), ("cascade_rag", "scorer", {})],
)
def test_a_calibrated_verdict_is_gone_by_whatever_the_parts_are_called(
    tmp_path: Path, name: str, part: str, chosen: dict[str, dict[str, str]]
) -> None:
    """A file of the user's own may name its router as it likes, and the parts of a cascade too."""
    (tmp_path / "own.yml").write_text(re.sub(rf"\b{part}\b(?=[.:])", "other", source(name)))
    assert by_the_set(read(tmp_path / "own.yml")) == chosen


def test_an_address_of_a_store_that_has_none_is_refused() -> None:
    """Who forgets `store="elasticsearch"` got a pipeline on an empty store."""
    with pytest.raises(ConfigurationError, match="an address for the store 'in_memory', which has none"):
        export("corrective_retrieval", url="http://127.0.0.1:9200")
    with pytest.raises(ConfigurationError, match="an address for the store 'memory', which has none"):
        open_store("memory", "http://127.0.0.1:9200")


@pytest.mark.parametrize("has_sentences", [True, False])
def test_ask_and_serve_refine_by_a_calibration_as_eval_measures_it(tmp_path: Path, has_sentences: bool) -> None:
    """The sentences of the answer were chosen by the shipped model, and its figures were those of one's own."""
    file, content = tmp_path / "mine.json", load_calibration().to_dict()
    file.write_text(json.dumps(content | ({"strips": load_strip_model().to_dict()} if has_sentences else {})))
    for name in ("paper_rag", "corrective_retrieval", "cascade_rag"):
        served, measured = calibrated_parts(name, str(file)), exchanged(Setup(name, calibration=str(file)))
        assert served.keys() == measured.keys()
        assert served.get("strips") == measured.get("strips")
    rag = load(
        "paper_rag", generator=MockChatGenerator("-"), store=memory_store(), **calibrated_parts("paper_rag", str(file))
    )
    refiner = rag.pipeline.get_component("strips")
    assert (refiner.calibration, refiner.evidence_share) == (str(file) if has_sentences else None, 0.94)
