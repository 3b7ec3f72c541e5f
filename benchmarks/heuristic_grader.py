"""
How long HeuristicGrader takes for documents of 200 words on one core, beside embedding those documents alone.

    python benchmarks/heuristic_grader.py [--documents 10] [--calibration FILE [--model FOLDER]]

Processor time, in which other work of the machine counts little. `cold`: no document was met before. `warm`: all were
read for other questions, as in a process that serves. No question comes twice in a hundred runs, since what a question
shares with a document is kept for its next list. Of more than 65 documents, neighbours overlap.
With `--model` (the one of the calibration) a tenth of the runs, on all cores: `taskset -c 0` leaves it one.
"""

import os

# Before numpy and the tokenizer are loaded: one core is what is measured.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import argparse
import time
from collections.abc import Callable
from itertools import cycle
from pydoc_data.topics import topics
from statistics import median, quantiles

from haystack import Document

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.judging.reading import shared_reader

QUESTION = "How does a context manager handle exceptions in the with statement?"
QUESTIONS = cycle([QUESTION.replace("exceptions", f"{each} exceptions") for each in ["", *map(str, range(99))]])
RUNS, FEWEST = 300, 15


def documents(count: int = 10, length: int = 200) -> list[Document]:
    """Cut documents of so many words out of Python's own language reference."""
    words = " ".join(text for _, text in sorted(topics.items())).split()
    step = min(1000, (len(words) - length) // count)
    return [Document(content=" ".join(words[n * step : n * step + length])) for n in range(count)]


def milliseconds(action: Callable[[], object], runs: int) -> list[float]:
    """Time an action, after a warm-up."""
    for _ in range(runs // FEWEST):
        action()
    times = []
    for _ in range(runs):
        started = time.process_time()
        action()
        times.append((time.process_time() - started) * 1000)
    return times


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--calibration", help="a file of `crag calibrate`")
    parser.add_argument("--model", help="the embedding model of that calibration")
    asked = parser.parse_args()
    runs = max(FEWEST, RUNS * 10 // asked.documents // (1 if asked.model is None else 10))
    texts, encoder = documents(asked.documents), load_encoder(asked.model)
    graders = {
        "weights: evidence": HeuristicGrader(weights="evidence"),
        "weights: coherence": HeuristicGrader(weights="coherence"),
        "shipped model": HeuristicGrader(),
    }
    if asked.calibration:
        graders["calibrated"] = HeuristicGrader(calibration=asked.calibration, model=asked.model)
    print(f"{asked.documents} documents of 200 words, one core, median of {runs} runs (p95)")
    for name, grader in graders.items():

        def cold(grader: HeuristicGrader = grader) -> None:
            shared_reader(grader.model).forget()
            grader.run(query=next(QUESTIONS), documents=texts)

        def warm(grader: HeuristicGrader = grader) -> None:
            grader.run(query=next(QUESTIONS), documents=texts)

        for kind, action in (("cold", cold), ("warm", warm)):
            times = milliseconds(action, runs)
            print(f"{name:20} {kind} {median(times):6.2f} ms ({quantiles(times, n=20)[-1]:.2f})")
    encoding = milliseconds(lambda: encoder.encode([document.content or "" for document in texts]), runs)
    print(f"{'embedding alone':20}      {median(encoding):6.2f} ms ({quantiles(encoding, n=20)[-1]:.2f})")


if __name__ == "__main__":
    main()
