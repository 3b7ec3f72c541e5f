"""The search engine behind searx in tests: loopback, the same answers every time, faults on demand.

`python backend.py 8899 searx-run` answers on that port for as long as the command runs, and ends with it. A word in the
query makes it fail: fault500, fault429, faultbadjson, faultslow; with faultempty it finds nothing.
"""

import json
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

FAULTS = {"fault500": 500, "fault429": 429}
SLOW = 20.0  # seconds; longer than the engines' timeout in settings.yml
HITS = 5


class Backend(BaseHTTPRequestHandler):
    """Answers as a JSON service (`/json`) and as YaCy, whose results have a date (`/yacysearch.json`)."""

    def do_GET(self) -> None:
        """Answer a search, or with the fault that its words ask for."""
        at = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(at.query).items()}
        query = asked.get("q") or asked.get("query", "")
        status = next((number for word, number in FAULTS.items() if word in query), 200)
        if "faultslow" in query:
            time.sleep(SLOW)
        dated = at.path == "/yacysearch.json"
        found = [] if "faultempty" in query else hits(query, asked.get("p", "1"), dated)
        reply: Any = {"total": len(found), "hits": found}
        if dated:
            reply = {"channels": [{"items": found, "totalResults": str(len(found))}]}
        self._send(status, b"{" if "faultbadjson" in query else json.dumps(reply).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def hits(query: str, page: str, dated: bool) -> list[dict[str, str]]:
    """Return the results of a query: always the same; the last one has no text."""
    found = []
    for rank in range(1, HITS + 1):
        link = f"https://example.org/{len(query)}/{page}/{rank}"
        text = f"Passage {rank} of page {page} about {query}." if rank < HITS else ""
        if dated:
            when = f"Mon, {rank:02} Mar 2024 10:00:00 +0000"
            found.append({"link": f"{link}/news", "title": f"News {rank}", "description": text, "pubDate": when})
        else:
            found.append({"link": link, "name": f"Title {rank}", "snippet": text})
    return found


def main() -> int:
    """Answer until the command ends."""
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend)
    Thread(target=server.serve_forever, daemon=True).start()
    command = subprocess.Popen(sys.argv[2:])
    # Nobody stays behind, and the command is waited for: an ended child that nobody asks about counts as running.
    signal.signal(signal.SIGTERM, lambda *_: command.terminate())
    return command.wait()


if __name__ == "__main__":
    sys.exit(main())
