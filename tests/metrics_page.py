"""A program that serves the product's own page of metrics, with at least one value of each; it prints its port."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.observing import metrics


class OpenBreaker:
    """One that is left alone."""

    state = "open"


class Page(BaseHTTPRequestHandler):
    """Answers every request with the page."""

    def do_GET(self) -> None:
        body, content_type = exported.page(self.headers.get("Accept", ""))
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    exported, breaker = configure_metrics(), OpenBreaker()
    metrics.watch("SearXNGWebSearch", breaker)
    for verdict, strategy, seconds in (("correct", "none", 0.04), ("correct", "expand", 0.3), ("incorrect", "web", 2)):
        metrics.run_decided(verdict, strategy, 0.8, seconds)
    for status in ("written", "declined"):
        metrics.answered(status, unsupported=status == "written")
    with metrics.timed_grading("HeuristicGrader"):
        pass
    metrics.documents_scored([(0.9, "index"), (0.2, "web")])
    metrics.grading_ended(["length", "deadline"], calls=2)
    for status in ("ok", "incomplete", "failed"):
        metrics.index_searched(status)
    metrics.request_ended("/corrective_rag/run", 200)
    metrics.store_answered(True)
    metrics.telemetry_lost("traces")
    for status in ("ok", "failed"):
        metrics.web_searched("SearXNGWebSearch", status)
    metrics.cache_asked(10, 4, failed=False)
    metrics.cache_asked(2, 0, failed=True)
    metrics.model_asked("a-model", "openai", 0.2, Usage(tokens_in=100, tokens_out=10), None)
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()
