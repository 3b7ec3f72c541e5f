"""
How long HeuristicGrader takes for 10 documents of 200 words on one core, beside embedding those documents alone.

    python benchmarks/heuristic_grader.py
"""

import os

# Before numpy and the tokenizer are loaded: one core is what is measured.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import time
from collections.abc import Callable
from pydoc_data.topics import topics
from statistics import median, quantiles

from haystack import Document

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.static_model import load_encoder

QUESTION = "How does a context manager handle exceptions in the with statement?"
RUNS = 300


def documents(count: int = 10, length: int = 200) -> list[Document]:
    """Cut documents of so many words out of Python's own language reference."""
    words = " ".join(text for _, text in sorted(topics.items())).split()
    return [Document(content=" ".join(words[n * 1000 : n * 1000 + length])) for n in range(count)]


def milliseconds(action: Callable[[], object]) -> list[float]:
    """Time an action, after a warm-up."""
    for _ in range(20):
        action()
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    return times


def main() -> None:
    """Print the figures."""
    texts = documents()
    grader, encoder = HeuristicGrader(), load_encoder()
    grading = milliseconds(lambda: grader.run(query=QUESTION, documents=texts))
    encoding = milliseconds(lambda: encoder.encode([document.content or "" for document in texts]))
    print(f"10 documents of 200 words, one core, median of {RUNS} runs")
    print(f"grading           {median(grading):6.2f} ms   (p95 {quantiles(grading, n=20)[-1]:.2f} ms)")
    print(f"embedding alone   {median(encoding):6.2f} ms   (p95 {quantiles(encoding, n=20)[-1]:.2f} ms)")
    print(f"ratio             {median(grading) / median(encoding):6.2f}")


if __name__ == "__main__":
    main()
