"""
A real chat model in the place of the script, and what became of the answers that it wrote.

Every request of every system goes on to an OpenAI-compatible server as it is, but for a seed and a most of 512 tokens
where it names none; a stream is asked for whole and handed on in parts. Tokens are those that the server counts.

How an answer ended is read from its words: `right`, an accepted answer stands in it (the measure of the CRAG paper,
arXiv 2401.15884, section 5.2, for PopQA); `declined`, else, when the run ended in an abstention or the words say that
there is no answer (`_DECLINES`, in free words: most prompts prescribe none); `wrong`, anything else that was written;
`failed`, an error, a timeout or nothing. Only sets with short answers can be measured so.
"""

import json
import re
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from measures import SPREADS, Figure, outcome, spread
from scipy.stats import binomtest

from haystack_integrations.crag.evaluation.strips import holds, normal

SHORT_ANSWERS: Final = ("popqa", "hotpotqa")
ENDS: Final = ("right", "wrong", "declined", "failed")
_MOST_TOKENS: Final = 512
_CALL_SECONDS: Final = 600.0
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_DECLINES: Final = re.compile(
    r"no_answer|(?:\b(?:no|not|cannot|unable|unclear|unknown|without)|n['\u2019]t)\b[^.]{0,80}"
    r"\b(?:answer|mention|provide|contain|specif|stated?|state\b|information|include|say|said|find|found|determin|know"
    r"|given|available|enough|details?|evidence|indicat|listed?|clear|relevant|related)",
    re.IGNORECASE,
)


class RealModel:
    """A chat model behind an OpenAI-compatible server."""

    def __init__(self, url: str) -> None:
        """
        Take its address.

        :param url: Up to and with `/v1`.
        """
        self.url = url.rstrip("/")

    def name(self) -> str:
        """
        Ask the server for the name of its model.

        :returns: The name of the first that it lists, without folders.
        """
        with _DIRECT.open(f"{self.url}/models", timeout=_CALL_SECONDS) as response:
            return str(json.load(response)["data"][0]["id"]).rsplit("/", 1)[-1]

    def reply(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], str, int, int]:
        """
        Ask it.

        :param body: The request of a system.
        :returns: The message, its finish reason, the tokens of prompt and completion.
        :raises OSError: When the server cannot be reached or refuses.
        """
        asked = {"seed": 0, "max_tokens": _MOST_TOKENS, **body}
        asked = {name: value for name, value in asked.items() if name not in ("stream", "stream_options")}
        request = urllib.request.Request(
            f"{self.url}/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
        with _DIRECT.open(request, timeout=_CALL_SECONDS) as response:
            replied = json.load(response)
        choice, usage = replied["choices"][0], replied["usage"]
        message = {"role": "assistant", **choice["message"], "content": choice["message"].get("content") or ""}
        return message, choice["finish_reason"], usage["prompt_tokens"], usage["completion_tokens"]


def end_of(record: Mapping[str, Any]) -> str:
    """
    Say how a question ended.

    :param record: The question, with its accepted answers as `accepted`.
    :returns: One of `ENDS`.
    """
    if outcome(record) in ("error", "timeout", "empty"):
        return "failed"
    said = record["answer"] or ""
    is_over = record["route"] == "abstain"
    if not is_over and holds([normal(said)], [normal(one) for one in record["accepted"]]):
        return "right"
    return "declined" if is_over or _DECLINES.search(said) else "wrong"


def real_figures(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Measure one system in one arm.

    :param records: Its questions.
    :returns: `n`, spreads, mean calls `by_role`, and the share of each of `ENDS` with its 95 % interval: of the
        questions whose list has an answering document, or of all where no list has one.
    """
    judged = [record for record in records if record["suffices"]] or records
    roles = Counter[str]()
    for record in records:
        roles.update(record["by_role"])
    ends = Counter(map(end_of, judged))
    return {
        "n": len(records),
        **{name: spread([record[name] for record in records]) for name in SPREADS},
        "by_role": {name: round(count / len(records), 4) for name, count in sorted(roles.items())},
        **{name: _share(ends[name], len(judged)) for name in ENDS},
    }


def _share(count: int, n: int) -> Figure | None:
    """Give a share with its exact interval: redrawn, a share of 0 or 1 would have one of no width."""
    if not n:
        return None
    between = binomtest(count, n).proportion_ci()
    return {"value": round(count / n, 4), "low": round(between.low, 4), "high": round(between.high, 4), "n": n}
