"""
One server process on loopback that is everything outside of a system: chat model, retriever, web, embeddings.

    python benchmarks/peers/world.py /path/to/datasets [--sets covidqa scifact] [--questions 20] [--port 0]

prints one JSON line when it is ready, `{"ready": true, "url": "http://127.0.0.1:PORT", "tasks": 80}`, and serves until
it is ended. `tasks.py` says what is asked, `roles.py` how a request is understood, `replies.py` what is replied.

- `GET /tasks` -> `{"tasks": [{"task", "set", "question", "answerable", "accepted"}]}`, in the order in which they are
  asked; `accepted` are its answers.
- `POST /control/begin` `{"task", "system", "k", "a", "b", "c", "errors", "fault"}` -> `{}`; only `task` must be there.
  One run at a time: a call belongs to the run in which it arrived, so a late one of a killed worker counts nowhere.
- `POST /control/end` -> the tally: `calls`, `by_role`, `tokens_in`, `tokens_out`, `answer_calls`, `answer_words` (words
  of the documents in the last answer prompt), `answer_support`, `answer_documents` (their ids), `web_calls`,
  `searches`; and besides the contract `suffices`, `truth` (see `tasks.py`, for k and the kind of list),
  `answerable`, and `answer_gold`: a document with label 2 is among those of the last answer prompt.
- `GET /control/tally` -> the tally so far.
- `POST /v1/chat/completions`: takes a + b * prompt tokens + c * completion tokens seconds in all, what the world itself
  needs included; a streamed reply begins when all of them are over. Without a run there is no document and no answer.
- `POST /v1/embeddings`: 16 numbers from a hash. `GET /v1/models`: one model.
- `GET /search?q=&k=` -> `{"documents": [{"id", "title", "text"}]}`: the task's list for its own question, else BM25.
- `GET /web?q=&n=` -> `{"results": [{"title", "url", "text"}]}`: BM25 over the whole corpus, also in a gap. `task` in
  both is optional and for the reader: the run says which question it is.

Faults: `garbage`, `hang` (30 s, or `hang_seconds` of the begin), `cut`: of every judging call (`roles.GRADING`), not of
answers and queries. `web_down`: 503. `gap`: no document with label 2 in list and corpus; `nothing`: none with label 1
or 2; `nowhere`: neither in list and corpus nor on the web. `injected`: the least relevant of the first three documents
of the list (of the first k, if k is less) holds `replies.INSTRUCTION` behind its first sentence.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

from corpus import Corpus
from one_run import FAULTS, Run
from real import RealModel
from tasks import KINDS, SETS, Task, read
from tokens import Count, by_rule, tekken

from haystack_integrations.crag.evaluation.cases import Case

MODEL = "scripted"
_DIMENSIONS = 16
_IDLE = Task("", "", "", (), {}, (), dict.fromkeys(KINDS, ()), Case("", ""), needs_all=False)


class WrongRequestError(ValueError):
    """A request that the world cannot serve; its text goes back to the client."""


class World(ThreadingHTTPServer):
    """The server, its data, and the run of the moment."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        tasks: Mapping[str, Task],
        corpora: Mapping[str, Corpus],
        port: int = 0,
        count: Count = by_rule,
        model: RealModel | None = None,
    ) -> None:
        """
        Listen on loopback.

        :param tasks: Tasks by id.
        :param corpora: Corpora by name of the set.
        :param port: The port; 0 for a free one.
        :param count: What counts tokens.
        :param model: A real model in the place of the script.
        """
        super().__init__(("127.0.0.1", port), Handler)
        self.tasks, self.corpora, self.count, self.model = tasks, corpora, count, model
        self.run = self._idle = Run(_IDLE, Corpus("", {}), {})

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """
        Begin a run, and end the one before.

        :param given: Task, system and settings.
        :returns: Nothing.
        :raises WrongRequestError: For an unknown task or fault.
        """
        task = self.tasks.get(given.get("task") or "")
        if task is None:
            msg = f"got the task {given.get('task')!r}, wanted one of the {len(self.tasks)} of GET /tasks"
            raise WrongRequestError(msg)
        if given.get("fault") not in (None, *FAULTS):
            msg = f"got the fault {given['fault']!r}, wanted null or one of {', '.join(FAULTS)}"
            raise WrongRequestError(msg)
        self.run.over.set()
        self.run = Run(task, self.corpora[task.dataset], given, self.count, self.model)
        return {}

    def end(self) -> dict[str, Any]:
        """
        End the run.

        :returns: Its tally.
        """
        run, self.run = self.run, self._idle
        if run is not self._idle:
            run.over.set()
        return run.tally()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together
    server: World

    def do_GET(self) -> None:
        """Answer what is looked up."""
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        run = self.server.run
        match parts.path:
            case "/tasks":
                self._send({"tasks": [_described(task) for task in self.server.tasks.values()]})
            case "/control/tally":
                self._send(run.tally())
            case "/v1/models":
                self._send({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0}]})
            case "/search":
                names = run.search(asked.get("q", ""), int(asked.get("k", run.k)))
                self._send({"documents": [_document(run, name) for name in names]})
            case "/web":
                run.count(web_calls=1)
                if run.fault == "web_down":
                    self._send({"error": {"message": "the web is down"}}, 503)
                    return
                names = run.web(asked.get("q", ""), int(asked.get("n", 5)))
                self._send({"results": [_page(run, name) for name in names]})
            case _:
                self._send({"error": {"message": f"nothing at {parts.path}"}}, 404)

    def do_POST(self) -> None:
        """Answer what is sent."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
        try:
            match urlsplit(self.path).path:
                case "/control/begin":
                    self._send(self.server.begin(body))
                case "/control/end":
                    self._send(self.server.end())
                case "/v1/embeddings":
                    self._send(_embeddings(body))
                case "/v1/chat/completions":
                    self._complete(body)
                case path:
                    self._send({"error": {"message": f"nothing at {path}"}}, 404)
        except WrongRequestError as error:
            self._send({"error": {"message": str(error)}}, 400)
        except HTTPError as error:  # the real model refuses: its word goes to the system that asked
            self._send({"error": {"message": error.read().decode(errors="replace")}}, error.code)

    def _complete(self, body: Mapping[str, Any]) -> None:
        message, finish, read_, written = self.server.run.complete(body)
        usage = {"prompt_tokens": read_, "completion_tokens": written, "total_tokens": read_ + written}
        head = {"id": "scripted", "created": 0, "model": body.get("model") or MODEL}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self._send({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        lines = [f"data: {json.dumps({**head, **part})}\n\n" for part in _parts(message, finish)]
        if (body.get("stream_options") or {}).get("include_usage"):
            last: dict[str, Any] = {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}
            lines.append(f"data: {json.dumps(last)}\n\n")
        self._write("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")

    def _send(self, reply: Any, status: int = 200) -> None:
        self._write(json.dumps(reply).encode(), "application/json", status)

    def _write(self, data: bytes, kind: str, status: int = 200) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
        except ConnectionError:  # a client that gave up, or was ended
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no log."""


def _described(task: Task) -> dict[str, Any]:
    told = {"task": task.id, "set": task.dataset, "question": task.question, "answerable": task.answerable}
    return {**told, "accepted": list(task.answers)}


def _document(run: Run, name: str) -> dict[str, str]:
    return {"id": name, "title": run.corpus.passages[name].title, "text": run.text(name)}


def _page(run: Run, name: str) -> dict[str, str]:
    page = run.corpus.passages[name]
    return {"title": page.title, "url": f"https://example.org/{run.corpus.name}/{name}", "text": page.text}


def _parts(message: Mapping[str, Any], finish: str) -> Iterator[dict[str, Any]]:
    """Give a message in the parts of a stream: word by word, a tool call in one."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if message.get("tool_calls"):
        deltas.append({"tool_calls": [{"index": 0, **call} for call in message["tool_calls"]]})
    else:
        deltas += [{"content": word} for word in message["content"].splitlines(keepends=True)]
    for delta in deltas:
        yield {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    vectors = [[byte / 255 for byte in hashlib.sha256(str(text).encode()).digest()[:_DIMENSIONS]] for text in texts]
    data = [{"object": "embedding", "index": place, "embedding": one} for place, one in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": body.get("model") or MODEL, "data": data, "usage": usage}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tekken", action="store_true", help="count tokens by a real tokenizer")
    parser.add_argument("--model-url", help="a real model in the place of the script: a server's address, with /v1")
    given = parser.parse_args(arguments)
    count = tekken() if given.tekken else by_rule
    world = World(
        *read(given.folder, given.sets, given.questions),
        given.port,
        count,
        RealModel(given.model_url) if given.model_url else None,
    )
    print(json.dumps({"ready": True, "url": world.url, "tasks": len(world.tasks)}), flush=True)
    world.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    main()
