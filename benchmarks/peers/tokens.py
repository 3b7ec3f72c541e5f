"""How the comparison counts tokens: by one rule for all systems, or by a real tokenizer."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")

Count = Callable[[str], int]


def by_rule(text: str) -> int:
    """
    Count words and punctuation.

    :param text: Any text.
    :returns: How many.
    """
    return len(_TOKEN.findall(text))


def tekken() -> Count:
    """
    Load Tekken, the tokenizer of Mistral's models since 2024; its file comes with a package.

    :returns: What counts the tokens of a text.
    :raises SystemExit: When the package is not installed.
    """
    try:
        import mistral_common
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    except ModuleNotFoundError:
        msg = "tokens are counted by mistral-common, which is not installed: pip install mistral-common"
        raise SystemExit(msg) from None
    tokenizer = Tekkenizer.from_file(max(Path(mistral_common.__file__).parent.glob("data/tekken_*.json")))
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))
