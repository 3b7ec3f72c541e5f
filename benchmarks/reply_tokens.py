"""
How many tokens a model writes to grade ten documents, and reads besides their texts, by a real tokenizer.

    pip install mistral-common    # the tokenizer comes with the package; not needed by anything else here
    python benchmarks/reply_tokens.py

The mean of 200 drawn replies for each form: three of ten documents are relevant. Tekken is the tokenizer of Mistral's
models since 2024; others cut differently, but all of them make several tokens of random hexadecimal digits.
"""

import json
import random
import secrets
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean

from haystack import Document

from haystack_integrations.crag.grading.plan import make_items, new_key
from haystack_integrations.crag.grading.prompt import DEFAULT_RUBRIC, DEFAULT_TEMPLATE, GradingPrompt

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from tokens import tekken

DOCUMENTS, DRAWN = 10, 200
SCORES = (0.9, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0)

Form = Callable[[list[float]], str]


def line(key: Callable[[], str]) -> Form:
    """Write one line of keys and scores."""
    return lambda scores: json.dumps({"grades": " ".join(f"{key()} {f'{one:g}'.lstrip('0') or 0}" for one in scores)})


def mapping(scores: list[float]) -> str:
    """Write an object of scores by key."""
    return json.dumps({new_key(()): one for one in scores})


def objects(*, reasons: bool) -> Form:
    """Write an object for each document."""
    why = {"reason": "names the author and the year, but not the place"} if reasons else {}
    return lambda scores: json.dumps({"evaluations": [{"id": new_key(()), **why, "score": one} for one in scores]})


def ranking(scores: list[float]) -> str:
    """Write what Haystack's `LLMRanker` asks for: the places of those that are relevant."""
    return json.dumps({"documents": [{"index": place} for place, one in enumerate(scores, 1) if one >= 0.5]})


FORMS: dict[str, Form] = {
    "scores by id, ids of three consonants (asked for)": mapping,
    "one line, ids of three consonants": line(lambda: new_key(())),
    "one line, ids of six hexadecimal digits": line(lambda: secrets.token_hex(3)),
    "objects with an id": objects(reasons=False),
    "objects with an id and a reason (reasons=True)": objects(reasons=True),
    "array of scores, by place": json.dumps,
    "LLMRanker: places of the relevant ones, no scores": ranking,
}


def prompt() -> str:
    """Write the messages that ask for the grades of documents of one letter each."""
    items = make_items({place: Document(content="x") for place in range(DOCUMENTS)}, 100, 1000)
    asking = GradingPrompt(DEFAULT_RUBRIC, DEFAULT_TEMPLATE, scale=1.0, reasons=False)
    return "\n".join(message.text or "" for message in asking.messages("x", items, None))


def main() -> None:
    """Print a table."""
    count = tekken()

    def tokens(texts: Iterable[str]) -> float:
        return mean(map(count, texts))

    print(f"Tekken, {DOCUMENTS} documents, mean of {DRAWN} replies")
    for name, form in FORMS.items():
        replies = (form(random.sample(SCORES, DOCUMENTS)) for _ in range(DRAWN))
        print(f"{name:52} {tokens(replies):6.1f}")
    print(f"{'read: rubric, question and tags around the documents':52} {tokens(prompt() for _ in range(DRAWN)):6.1f}")


if __name__ == "__main__":
    main()
