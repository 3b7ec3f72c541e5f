"""`crag index`, `crag ask` and `crag doctor` on a real Elasticsearch, with and without a chat model."""

import json
import re
import threading
from pathlib import Path

import pytest
from cli_runner import QUESTION, crag, in_process, refused
from elasticsearch import Elasticsearch
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedModel
from werkzeug import Response

from haystack_integrations.crag.cli.errors import ExitCode, explain


def test_a_second_run_writes_nothing(docs: Path, place: list[str]) -> None:
    """The report says what was done; `--base` makes the names of sources short."""
    first = json.loads(crag("index", docs, *place, "--base", docs, "--json").stdout)
    assert (first["sources"], first["added"], first["failures"]) == (2, 2, [])
    assert first["documents_written"] >= 2
    second = json.loads(crag("index", docs, *place, "--base", docs, "--json").stdout)
    assert (second["added"], second["unchanged"], second["documents_written"]) == (0, 2, 0)


def test_what_changed_or_vanished_is_brought_up_to_date(docs: Path, place: list[str]) -> None:
    """For people the report is a table."""
    crag("index", docs, *place)
    (docs / "camels.txt").unlink()
    (docs / "penguins.md").write_text("Emperor penguins breed in winter.")
    (docs / "fish.log").write_text("herring,1")
    result = crag("index", docs, *place)
    assert result.exit_code == 0
    assert re.search(r"^skipped +1 +1 \.log *$", result.stdout, re.MULTILINE)
    table = {key.strip(): value for key, value in (line.rsplit(maxsplit=1) for line in result.stdout.splitlines())}
    assert (table["updated"], table["removed"], table["failures"]) == ("1", "1", "0")


def test_one_bad_file_stops_no_other(docs: Path, place: list[str]) -> None:
    """It is named on stderr, and the exit code says so; no progress bar where there is no terminal."""
    (docs / "broken.pdf").write_text("this is no PDF")
    result = in_process("index", docs, *place, "--base", docs, "--json")
    assert result.returncode == ExitCode.INPUTS_FAILED
    report = json.loads(result.stdout)
    assert report["added"] == 2
    assert [failure["source"] for failure in report["failures"]] == ["broken.pdf"]
    assert result.stderr.startswith("not read: broken.pdf: ")
    assert result.stderr.count("\n") == 1


def test_statistics_that_cannot_be_written_hide_no_report(
    docs: Path, place: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was indexed, and what not, is told all the same; then what is wrong with the file."""
    (docs / "broken.pdf").write_text("this is no PDF")
    monkeypatch.setattr("haystack_integrations.crag.whole_file.token_hex", lambda _: "beside")
    (tmp_path / ".words.json.beside.partial").mkdir()  # where the file would be written first
    result = crag("index", docs, *place, "--statistics", tmp_path / "words.json", "--json")
    assert json.loads(result.stdout)["added"] == 2
    assert "not read: " in result.stderr
    assert "error: statistics cannot be written" in result.stderr
    assert result.exit_code == ExitCode.USAGE


def test_what_was_indexed_can_be_asked(docs: Path, place: list[str]) -> None:
    """The same evidence, sentences and record as from files, under the same name: no path of this machine."""
    crag("index", docs, *place)
    result = crag("ask", QUESTION, *place, "--json")
    assert result.exit_code == 0, result.stderr
    outcome = json.loads(result.stdout)
    assert outcome["evidence"][0]["source"] == "penguins.md"
    assert str(docs.parent) not in result.stdout
    assert outcome["evidence"][0]["sentences"][0]["text"].startswith("Emperor penguins live")
    assert outcome["crag"]["verdict"] == "correct"


def test_a_chat_model_answers_from_the_index(docs: Path, place: list[str], model: ScriptedModel) -> None:
    """One call to grade, one to answer, as on files."""
    crag("index", docs, *place)
    outcome = json.loads(crag("ask", QUESTION, *place, "--json").stdout)
    assert outcome["answer"] == "On the coast of Antarctica [1]."
    assert (model.calls, model.gradings) == (2, 1)


def test_asking_an_index_that_does_not_exist_makes_none(
    place: list[str], elasticsearch_url: str, elasticsearch_index: str
) -> None:
    """A typing error in its name is an error, not a new empty index."""
    message = refused(crag("ask", QUESTION, *place), ExitCode.UNREACHABLE)
    assert f"the index '{elasticsearch_index}' at {elasticsearch_url} does not exist" in message
    assert "`crag index PATH" in message
    with Elasticsearch(elasticsearch_url) as client:
        assert not client.indices.exists(index=elasticsearch_index)


def test_asking_an_empty_index_says_so(tmp_path: Path, place: list[str]) -> None:
    """With the command that fills it."""
    (tmp_path / "nothing").mkdir()
    indexed = crag("index", tmp_path / "nothing", *place)
    assert indexed.exit_code == 0
    assert indexed.stderr == f"warning: got no file to index in {tmp_path / 'nothing'}; was another folder meant?\n"
    assert "is empty, so there is nothing to answer from" in refused(
        crag("ask", QUESTION, *place), ExitCode.UNREACHABLE
    )


def test_a_folder_that_became_empty_removes_nothing_unless_it_is_told_to(docs: Path, place: list[str]) -> None:
    """It may be a drive that is not mounted: what is indexed stays, and the exit code says that something is wrong."""
    indexed = json.loads(crag("index", docs, *place, "--json").stdout)
    for page in docs.iterdir():
        page.unlink()
    kept = crag("index", docs, *place)
    assert (kept.exit_code, kept.stderr.count("\n")) == (ExitCode.INPUTS_FAILED, 1)
    assert f"got nothing in it, but the index has sources of it ({indexed['added']})" in kept.stderr
    assert crag("ask", QUESTION, *place).exit_code == 0
    removed = crag("index", docs, *place, "--allow-empty", "--json")
    assert (removed.exit_code, removed.stderr, json.loads(removed.stdout)["removed"]) == (0, "", indexed["added"])


def test_a_name_that_no_index_may_have_is_refused(docs: Path, elasticsearch_url: str) -> None:
    """Elasticsearch wants lower case, but in an alias; what no name may have is said before anything is written."""
    place = ["--store", "elasticsearch", "--url", elasticsearch_url, "--index"]
    assert "'NoGood'" in refused(crag("index", docs, *place, "NoGood"), ExitCode.UNREACHABLE)
    for command in (["index", docs], ["pipelines", "export", "heuristic_rag"]):
        assert "got 'No Good' as --index" in refused(crag(*command, *place, "No Good"), ExitCode.USAGE)


def test_a_pipeline_is_not_exported_for_an_address_that_is_none() -> None:
    """The file would fail at its first use, elsewhere."""
    place = ["--store", "elasticsearch", "--url", "localhost:9200"]
    assert "wanted http://HOST:PORT" in refused(crag("pipelines", "export", "heuristic_rag", *place), ExitCode.USAGE)


def test_what_the_client_raises_in_a_query_is_explained(elasticsearch_url: str, httpserver: HTTPServer) -> None:
    """An index that vanished, a server that went away, one that hangs: each with its way out, none with a body."""
    over = threading.Event()
    httpserver.expect_request("/slow/_search").respond_with_handler(lambda _: over.wait(60) and Response("{}"))
    hanging = httpserver.url_for("/").rstrip("/")
    for url, index, expected in (
        (elasticsearch_url, "crag-test-none", "Elasticsearch refused: 404 index_not_found_exception; make the index "),
        ("http://127.0.0.1:9", "any", "no answer from Elasticsearch (ConnectionError); start the server"),
        (hanging, "slow", "no answer from Elasticsearch (ConnectionTimeout); look at its load, disks and master"),
    ):
        with (
            Elasticsearch(url, request_timeout=0.5 if url == hanging else 30, max_retries=0) as client,
            pytest.raises(Exception) as raised,
        ):
            client.search(index=index)
        message, code = explain(raised.value)
        assert message.startswith(expected)
        assert code == ExitCode.UNREACHABLE
    over.set()


class TestDoctor:
    """`crag doctor --store elasticsearch`."""

    @staticmethod
    def examined(place: list[str]) -> tuple[int, dict[str, dict[str, str]]]:
        """Run it; gives the exit code, and the checks by name."""
        result = crag("doctor", *place, "--json")
        return result.exit_code, {check["name"]: check for check in json.loads(result.stdout)["checks"]}

    def test_an_index_of_ours_is_healthy(self, docs: Path, place: list[str]) -> None:
        """Reachable, version 8, our mapping, documents counted."""
        crag("index", docs, *place)
        code, checks = self.examined(place)
        assert code == 0
        assert checks["elasticsearch"]["found"].startswith("version 8.")
        assert (checks["index"]["status"], "2 documents" in checks["index"]["found"]) == ("ok", True)

    def test_an_index_that_does_not_exist_is_a_fault(self, place: list[str]) -> None:
        """With the command that makes it; nothing is said of documents that are not there."""
        code, checks = self.examined(place)
        assert code == ExitCode.FAILED
        assert "crag index PATH --store elasticsearch" in checks["index"]["fix"]
        assert checks["vectors"]["found"] == "none: there is no index yet"

    def test_an_index_made_elsewhere_is_a_warning(
        self, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """It can be asked, but lacks what makes ours safe."""
        with Elasticsearch(elasticsearch_url) as client:
            client.index(index=elasticsearch_index, document={"content": "text"}, refresh=True)
        code, checks = self.examined(place)
        assert (code, checks["index"]["status"]) == (0, "warning")
        assert "without this package's mapping" in checks["index"]["found"]

    def test_an_index_that_takes_no_writes_is_a_warning(
        self, docs: Path, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """As a server's that is short of disk space: questions go well, and uploads end with 503."""
        crag("index", docs, *place)
        with Elasticsearch(elasticsearch_url) as client:
            client.indices.put_settings(index=elasticsearch_index, settings={"blocks.read_only_allow_delete": True})
        check = self.examined(place)[1]["index"]
        assert check["status"] == "warning"
        assert "takes no more (index.blocks.read_only_allow_delete)" in check["found"]
        assert check["fix"].startswith("free disk space on the server")

    def test_vectors_of_another_model_of_the_same_length_are_a_warning(
        self, docs: Path, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """Nothing refuses them, and a search by vectors finds anything."""
        crag("index", docs, *place)
        assert self.examined(place)[1]["vectors"]["status"] == "ok"
        vector = [1.0, -1.0] * 128
        with Elasticsearch(elasticsearch_url) as client:
            for hit in client.search(index=elasticsearch_index)["hits"]["hits"]:
                document = {**hit["_source"], "embedding": vector}
                client.index(index=elasticsearch_index, id=hit["_id"], document=document, refresh=True)
        check = self.examined(place)[1]["vectors"]
        assert (check["status"], "of another model" in check["found"]) == ("warning", True)

    def test_after_an_upgrade_passages_of_the_earlier_version_are_told(
        self, docs: Path, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """They are searched as they are until the same files are indexed again, which nothing else asks for."""
        crag("index", docs, *place)
        with Elasticsearch(elasticsearch_url) as client:
            written = client.search(index=elasticsearch_index)["hits"]["hits"]
            for made_by, hit in zip(("0123456789ab", None), written, strict=True):
                document = {**hit["_source"], "source_pipeline": made_by}
                client.index(index=elasticsearch_index, id=hit["_id"], document=document, refresh=True)
            client.index(index=elasticsearch_index, document={"content": "of no file"}, refresh=True)
        code, checks = self.examined(place)
        assert (code, checks["passages"]["status"]) == (0, "info")
        assert checks["passages"]["found"].startswith("2 are not as `crag index` of this version")
        assert checks["passages"]["fix"].startswith("run `crag index` over the same files again")
        crag("index", docs, *place)
        assert "passages" not in self.examined(place)[1]

    @pytest.mark.parametrize("partial", [True, False])
    def test_shards_that_do_not_answer_are_a_fault(
        self, partial: bool, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """Whether the cluster counts what is left, which is its default, or refuses to."""
        name = "search.default_allow_partial_results"
        lost = {"number_of_shards": 2, "number_of_replicas": 0, "routing.allocation.total_shards_per_node": 1}
        with Elasticsearch(elasticsearch_url) as client:
            before = client.cluster.get_settings(flat_settings=True)["persistent"].get(name)
            client.cluster.put_settings(persistent={name: partial})
            try:
                text = {"properties": {"content": {"type": "text"}}}
                made = client.indices.create(
                    index=elasticsearch_index, settings=lost, mappings=text, wait_for_active_shards="0"
                )
                client.cluster.health(index=made["index"], wait_for_no_initializing_shards=True, timeout="60s")
                check = self.examined(place)[1]["index"]
            finally:
                client.cluster.put_settings(persistent={name: before})
        assert (check["status"], "_cluster/allocation/explain" in check["fix"]) == ("error", True)
        assert not partial or "1 of 2 shards do not answer" in check["found"]

    def test_an_alias_is_named_with_what_is_behind_it(
        self, docs: Path, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """One that was switched to another index by mistake answers nothing, and looks well."""
        crag("index", docs, *place)
        alias = f"{elasticsearch_index}-alias"
        with Elasticsearch(elasticsearch_url) as client:
            client.indices.put_alias(index=elasticsearch_index, name=alias)
        check = self.examined([*place[:-1], alias])[1]["index"]
        assert (check["status"], f"(alias of {elasticsearch_index}): 2 documents" in check["found"]) == ("ok", True)

    def test_fields_of_which_no_filter_is_right_for_all_indices_of_an_alias_are_named(
        self, docs: Path, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """After a rollover without our mapping: `!=` let the documents of one index through, `==` missed them."""
        crag("index", docs, *place)
        other, alias = f"{elasticsearch_index}-2", f"{elasticsearch_index}-alias"
        fields = {"content": "text", "source": "text", "chunk": "integer", "team": "text"}
        with Elasticsearch(elasticsearch_url) as client:
            mapped = {"properties": {name: {"type": kind} for name, kind in fields.items()}}
            client.indices.create(index=other, mappings=mapped)
            client.indices.put_alias(index=f"{elasticsearch_index},{other}", name=alias)
        check = self.examined([*place[:-1], alias])[1]["index"]
        assert (check["status"], "whose fields ['source'] differ in type" in check["found"]) == ("warning", True)
        assert "index them anew under one mapping" in check["fix"]

    @pytest.mark.parametrize(("state", "way_out"), [("closed", "/_open)"), ("blocked", "lift the block")])
    def test_an_index_that_is_closed_or_blocked_is_no_matter_of_rights(
        self, state: str, way_out: str, docs: Path, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """Though the server refuses it with the status of a wrong request, or of a missing right."""
        crag("index", docs, *place)
        with Elasticsearch(elasticsearch_url) as client:
            if state == "closed":
                client.indices.close(index=elasticsearch_index)
            else:
                client.indices.put_settings(index=elasticsearch_index, settings={"blocks.read": True})
        check = self.examined(place)[1]["index"]
        assert (check["status"], way_out in check["fix"]) == ("error", True)

    def test_the_commands_for_a_cluster_can_be_copied(
        self, place: list[str], elasticsearch_url: str, elasticsearch_index: str
    ) -> None:
        """With a blank between two addresses the second was another path, and curl asked at the first one's comma."""
        both = f"{elasticsearch_url},{elasticsearch_url.replace('127.0.0.1', 'localhost')}"
        cluster = [both if part == elasticsearch_url else part for part in place]
        assert f"--url {both} --index {elasticsearch_index}" in self.examined(cluster)[1]["index"]["fix"]
        with Elasticsearch(elasticsearch_url) as client:
            client.indices.create(index=elasticsearch_index, settings={"blocks.read_only_allow_delete": True})
        lifted = f"`curl -X PUT {elasticsearch_url}/{elasticsearch_index}/_settings -H "
        assert lifted in self.examined(cluster)[1]["index"]["fix"]

    def test_partial_results_are_a_warning_with_the_command_that_ends_them(
        self, place: list[str], elasticsearch_url: str
    ) -> None:
        """A shard that does not answer must not silently shorten a result."""
        name = "search.default_allow_partial_results"
        with Elasticsearch(elasticsearch_url) as client:
            before = client.cluster.get_settings(flat_settings=True)["persistent"].get(name)
            for value, status in ((True, "warning"), (False, "ok")):
                client.cluster.put_settings(persistent={name: value})
                try:
                    check = self.examined(place)[1]["partial results"]
                finally:
                    client.cluster.put_settings(persistent={name: before})
                assert check["status"] == status
                ends = f"curl -X PUT {elasticsearch_url}/_cluster/settings -H "
                assert status == "ok" or (name in check["fix"] and check["fix"].startswith(ends))
