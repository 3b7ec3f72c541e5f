"""`crag pipelines`: what is shipped, as text, as a file for another store, as a picture."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from cli_runner import crag, refused
from haystack import Pipeline

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.cli.files import write
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import names
from haystack_integrations.crag.pipelines.loader import read, source


def test_list_names_every_shipped_pipeline() -> None:
    """For people with a title, for programs with its contract."""
    shown = crag("pipelines", "list").stdout
    listed = json.loads(crag("pipelines", "list", "--json").stdout)
    assert [one["name"] for one in listed] == names()
    assert all(one["name"] in shown and one["title"] for one in listed)
    assert {one["name"]: one["chat_model"] for one in listed}["corrective_retrieval"] is False


@pytest.mark.parametrize("name", names())
def test_show_prints_the_file_as_it_is_shipped(name: str) -> None:
    """Byte for byte, so that it can be piped into a file."""
    assert crag("pipelines", "show", name).stdout == source(name)
    assert json.loads(crag("pipelines", "show", name, "--json").stdout)["components"] == read(name)["components"]


def test_export_for_elasticsearch_gives_a_loadable_file(tmp_path: Path) -> None:
    """The exported file holds the address and the index, and Haystack loads it."""
    target = tmp_path / "mine.yml"
    place = ["--store", "elasticsearch", "--url", "http://localhost:9200", "--index", "mine"]
    result = crag("pipelines", "export", "corrective_retrieval", *place, "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    spec = yaml.safe_load(target.read_text())
    parameters = spec["components"]["bm25"]["init_parameters"]["document_store"]["init_parameters"]
    assert (parameters["hosts"], parameters["index"]) == ("http://localhost:9200", "mine")
    assert Pipeline.loads(target.read_text()).graph.nodes


def test_export_tells_that_a_password_stands_in_the_file() -> None:
    """Whoever shares the file shares it; an address without one is told nothing of."""
    command = ("pipelines", "export", "corrective_retrieval", "--store", "elasticsearch", "--url")
    told = crag(*command, "http://elastic:secret@localhost:9200")
    assert told.exit_code == 0
    assert "the address holds a password, and so does the YAML now" in " ".join(told.stderr.split())
    assert "secret" not in told.stderr
    assert crag(*command, "http://localhost:9200").stderr == ""


def test_export_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which option is missing, and which setting."""
    monkeypatch.delenv("ELASTICSEARCH_URL", raising=False)
    result = crag("pipelines", "export", "corrective_rag", "--store", "elasticsearch")
    assert "--url http://HOST:PORT or set ELASTICSEARCH_URL" in refused(result, ExitCode.USAGE)


def test_export_writes_no_empty_host_behind_a_comma() -> None:
    """Of a cluster the nodes stand with commas between; commas alone are no address."""
    command = ("pipelines", "export", "corrective_retrieval", "--store", "elasticsearch", "--url")
    written = crag(*command, "http://a:9200, ,").stdout
    assert written == crag(*command, "http://a:9200").stdout
    assert "hosts: http://a:9200\n" in written
    assert "--url http://HOST:PORT or set ELASTICSEARCH_URL" in refused(crag(*command, " , "), ExitCode.USAGE)


def test_export_takes_the_words_of_the_other_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """`memory` and `in_memory` are the file as shipped; an address alone is enough for a server."""
    for word in ("memory", "in_memory"):
        assert crag("pipelines", "export", "baseline_rag", "--store", word).stdout == source("baseline_rag")
    by_address = crag("pipelines", "export", "baseline_rag", "--url", "http://localhost:9200").stdout
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://localhost:9200")
    assert crag("pipelines", "export", "baseline_rag", "--store", "elasticsearch").stdout == by_address
    monkeypatch.setenv("CRAG_STORE", "elasticsearch")
    assert crag("pipelines", "export", "baseline_rag").stdout == source("baseline_rag")
    result = crag("pipelines", "export", "baseline_rag", "--store", "memory", "--url", "http://localhost:9200")
    assert "leave out --url" in refused(result, ExitCode.USAGE)


def test_export_replaces_a_file_of_ones_own_only_when_told(tmp_path: Path) -> None:
    """The same export again is no change; what someone wrote into it is kept until they say otherwise."""
    target = tmp_path / "mine.yml"
    export = ["pipelines", "export", "baseline_rag", "-o", target]
    assert [crag(*export).exit_code, crag(*export).exit_code] == [0, 0]
    target.write_text("# edited\n")
    assert "--force" in refused(crag(*export), ExitCode.USAGE)
    assert target.read_text() == "# edited\n"
    assert crag(*export, "--force").exit_code == 0
    assert target.read_text() == source("baseline_rag")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size")
def test_where_a_disk_is_full_the_earlier_file_stays_and_no_half_of_a_new_one(tmp_path: Path) -> None:
    """Half of a pipeline is a readable YAML; and the result that others are compared with was gone."""
    import resource

    (earlier := tmp_path / "earlier.json").write_text("{}\n")
    (link := tmp_path / "link.json").symlink_to(earlier)
    known = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, known[1]))
        for file in (earlier, link, tmp_path / "new.yml"):
            with pytest.raises(ConfigurationError, match=f"cannot write '{file}' "):
                write(file, "line: 1\n" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, known)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == dict.fromkeys((earlier.name, link.name), "{}\n")
    write(link, "whole\n")
    assert (link.is_symlink(), earlier.read_text()) == (True, "whole\n")


def test_export_says_when_it_cannot_write(tmp_path: Path) -> None:
    """A folder that is not there is no traceback."""
    result = crag("pipelines", "export", "baseline_rag", "-o", tmp_path / "no" / "file.yml")
    assert "cannot write" in refused(result, ExitCode.USAGE)


def test_draw_shows_inputs_components_connections_and_outputs() -> None:
    """The drawing comes from the YAML alone, and words with a meaning in Mermaid are escaped."""
    spec = {
        "components": {"guard": {"type": "a.QuestionGuard"}, "end": {"type": "a.RecordBuilder"}},
        "connections": [{"sender": "guard.state", "receiver": "end.outcome"}],
        "inputs": {"query": ["guard.query"]},
        "outputs": {"crag": "end.crag"},
    }
    path = Path("mine.yml")  # a long path would be broken over two lines
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    assert crag("pipelines", "draw", path).stdout == (
        "flowchart TD\n"
        "  in_query([query])\n"
        '  guard["guard<br/><i>QuestionGuard</i>"]\n'
        '  end_["end<br/><i>RecordBuilder</i>"]\n'
        "  out_crag([crag])\n"
        "  in_query --> guard\n"
        "  guard -- state --> end_\n"
        "  end_ --> out_crag\n"
    )
    assert crag("pipelines", "draw", path, "--format", "tree").stdout == (
        f"{path}\n└── guard QuestionGuard\n    └── state → end RecordBuilder ⇒ crag\n"
    )


def test_a_pipeline_whose_every_component_is_fed_is_drawn_from_its_inputs_on() -> None:
    """A loop may lead back to the very first one; a second circle, which nothing leads to, is drawn, too."""
    circle = [("start", "ask"), ("ask", "start"), ("one", "two"), ("two", "one")]
    spec = {
        "components": {name: {"type": f"a.{name.title()}"} for name in ("ask", "start", "one", "two")},
        "connections": [{"sender": f"{one}.out", "receiver": f"{other}.given"} for one, other in circle],
        "inputs": {"query": ["start.value"]},
        "outputs": {"replies": "ask.out"},
    }
    Path("mine.yml").write_text(yaml.safe_dump(spec, sort_keys=False))
    assert crag("pipelines", "draw", "mine.yml", "--format", "tree").stdout.splitlines()[1:] == [
        "├── start Start",
        "│   └── out → ask Ask ⇒ replies",
        "│       └── out → ↺ start",
        "└── one One",
        "    └── out → two Two",
        "        └── out → ↺ one",
    ]


def test_no_two_components_are_drawn_as_one_and_a_connection_need_not_name_its_sockets() -> None:
    """Mermaid's own names have letters and digits only, and an arrow with nothing written on it is another arrow."""
    spec = {
        "components": {name: {"type": "a.Joiner"} for name in ("a-b", "a_b", "in_query")},
        "connections": [{"sender": "a-b", "receiver": "a_b"}],
        "inputs": {"query": "a-b.value"},
        "outputs": {"documents": "a_b.value"},
    }
    Path("mine.yml").write_text(yaml.safe_dump(spec, sort_keys=False))
    drawn = crag("pipelines", "draw", "mine.yml").stdout.splitlines()
    assert [line.partition("<")[0] for line in drawn[2:5]] == ['  a_b["a-b', '  a_b_["a_b', '  in_query["in_query']
    assert drawn[6:] == ["  in_query_ --> a_b", "  a_b --> a_b_", "  a_b_ --> out_documents"]


@pytest.mark.parametrize("form", ["mermaid", "tree"])
def test_a_drawing_takes_the_place_of_an_earlier_one_and_of_no_other_file(form: str) -> None:
    asked = ("pipelines", "draw", "heuristic_rag", "--format", form, "-o")
    Path("notes.md").write_text("# Notes\n")
    assert "no earlier drawing" in refused(crag(*asked, "notes.md"), ExitCode.USAGE)
    assert Path("notes.md").read_text() == "# Notes\n"
    for _ in range(2):
        assert crag(*asked, "drawing.md").exit_code == ExitCode.DONE


@pytest.mark.parametrize("name", names())
def test_every_shipped_pipeline_can_be_drawn(name: str) -> None:
    """Every component has its box, every connection its arrow; the tree shows each component once in full."""
    spec = read(name)
    drawing = json.loads(crag("pipelines", "draw", name, "--json").stdout)["drawing"]
    assert drawing.count("<br/>") == len(spec["components"])
    assert drawing.count(" -- ") == len(spec["connections"])
    tree = json.loads(crag("pipelines", "draw", name, "--format", "tree", "--json").stdout)["drawing"]
    kinds = {part["type"].rpartition(".")[2] for part in spec["components"].values()}
    assert all(kind in tree for kind in kinds)


def test_an_unknown_pipeline_is_refused_with_the_list() -> None:
    """Got, wanted, way out."""
    message = refused(crag("pipelines", "show", "nope"), ExitCode.USAGE)
    assert message.startswith("no shipped pipeline named 'nope'; choose one of")
    assert "corrective_rag" in message
