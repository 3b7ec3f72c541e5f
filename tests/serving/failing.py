"""A store that fails, and a request for each way in which one can fail, with a canary in all that is sent."""

from collections.abc import Iterator
from typing import Any

from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

CANARY = "CANARY-7f3a"


class BrokenStore(InMemoryDocumentStore):
    """A store that fails as a server would, with everything in its message that must not get out."""

    def bm25_retrieval(self, *args: Any, **kwargs: Any) -> list[Document]:
        msg = f"http://user:{CANARY}@10.0.0.1:9200/ refused {args} {kwargs}"
        raise RuntimeError(msg)

    async def count_documents_async(self) -> int:
        msg = f"http://user:{CANARY}@10.0.0.1:9200/"
        raise ConnectionError(msg)


def asked(client: Any, question: str) -> Iterator[Any]:
    """A request for each way in which one can fail."""
    yield client.post("/corrective_retrieval/run", json={"question": question})
    chat = {"model": "corrective_retrieval", "messages": [{"role": "user", "content": question}]}
    yield client.post("/v1/chat/completions", json=chat)
    yield client.post("/v1/chat/completions", json={**chat, "stream": True})
    yield client.post("/v1/chat/completions", json={**chat, "model": CANARY})
    yield client.post(f"/{CANARY}/run?key={CANARY}", json={"question": question})
    yield client.put("/corrective_retrieval/run", json={"question": question})
    yield client.post("/corrective_retrieval/run", content=f'{{"{CANARY}')
    yield client.post(
        "/corrective_retrieval/run", content=f'{{"question": "{CANARY}"}}', headers={"Content-Type": "text/plain"}
    )
    yield client.post("/corrective_retrieval/run", json={"question": CANARY * 1000})
    yield client.post("/corrective_retrieval/run", json={"question": question, CANARY: CANARY, "top_k": CANARY})
    yield client.post("/corrective_retrieval/run", json={"question": question, "filters": {CANARY: CANARY}})
    yield client.post("/corrective_retrieval/run", json={"question": CANARY * 20_000})
    yield client.post("/corrective_retrieval/run", json=[CANARY])
    yield client.get("/v1/models", headers={"Authorization": f"Bearer {CANARY}"})
    yield client.post("/indexing/run", files={"files": (f"{CANARY}.exe", CANARY.encode())})
    yield client.post("/indexing/run", files={"files": (f"../{CANARY}.md", CANARY.encode())})
    yield client.post("/indexing/run", data={CANARY: CANARY})
    call = {"name": "corrective_retrieval", "arguments": {"question": question}}
    accept = {"Accept": "application/json, text/event-stream"}
    yield client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, headers=accept)
    yield client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": CANARY, "params": CANARY}, headers=accept)
