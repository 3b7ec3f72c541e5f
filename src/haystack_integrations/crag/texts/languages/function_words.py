"""The words that hold a question together in some languages beside English, and name nothing that a text can lack."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from haystack_integrations.crag.texts.languages import function_word_lists as lists
from haystack_integrations.crag.texts.languages.spelling import one_spelling
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.text import is_ideograph


def _as_typed(words: Iterable[str]) -> Iterator[str]:
    """Give words as they are, as they are without their marks, and with German ones spelt out (fuer)."""
    for word in words:
        yield from (word, one_spelling(word), word.translate(_SPELT_OUT))


_SPELT_OUT: Final = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
FUNCTION_WORDS: Final = {
    **{
        language: frozenset(_as_typed(words.split()))
        for language, words in (
            ("german", lists.GERMAN),
            ("french", lists.FRENCH),
            ("spanish", lists.SPANISH),
            ("italian", lists.ITALIAN),
            ("portuguese", lists.PORTUGUESE),
            ("dutch", lists.DUTCH),
            ("swedish", lists.SWEDISH),
            ("russian", lists.RUSSIAN),
            ("polish", lists.POLISH),
            ("turkish", lists.TURKISH),
        )
    },
    "korean": frozenset(lists.KOREAN.split()),
}
"""By language."""
_TELLING: Final = {
    language: common.union(_as_typed(lists.TELLING.get(language, "").split()))
    for language, common in FUNCTION_WORDS.items()
}
_NOT_ENGLISH: Final = frozenset[str]().union(*_TELLING.values()) - STOP_WORDS

_ASKING: Final = (
    "who whom whose what which when where why how many much wer wen wem wessen wann wo woher wohin warum wieso weshalb "
    "wie wieviel viele welche welchem welchen welcher welches qui que quoi quel quelle quels quelles quand où pourquoi "
    "combien quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas perché quanto quanta quanti "
    "quante quale quali dov'è cos'è com'è quant'è quem onde quantos quantas quais waar waarom wanneer hoeveel hoelang "
    "welk welke när varför vilken vilket vilka kto gdzie kiedy dlaczego jaki jaka jakie który która które кто что где "
    "когда куда откуда почему зачем как сколько какой какая какое какие каков nedir niçin niye nasıl nerede nereye "
    "nereden hangi hangisi kaç neden quando"
)
_KOREAN_ASKING: Final = (
    "무엇 무엇을 무엇이 무엇인가요 무엇입니까 뭐 뭘 누구 누가 언제 어디 어디서 어디에 어디로 어떻게 어떤 어느 "
    "무슨 왜 몇 며칠 얼마 얼마나 얼마예요 얼마인가요 얼마입니까"
)
ASKING: Final = frozenset([*_as_typed(_ASKING.split()), *_KOREAN_ASKING.split()])
"""What asks, in English and in these languages."""

# Chinese has no spaces, and a word is one sign: these are runs of signs. Those that ask stand in no other word, and no
# Japanese question has them but among kana.
_CHINESE_ASKING: Final = frozenset(
    "什么 什么样 什么时候 为什么 怎么 怎么样 怎么办 怎样 如何 哪 哪个 哪些 哪里 哪儿 哪种 谁 多少 几个 何时 为何 是否 "
    "是不是 有没有 能不能 吗 呢 什麼 什麼樣 什麼時候 為什麼 怎麼 怎麼樣 怎麼辦 怎樣 哪個 哪裡 哪兒 "
    "哪種 誰 幾個 何時 為何 嗎".split()
)
_CHINESE: Final = _CHINESE_ASKING | frozenset(
    "的 了 是 在 和 与 或 被 我 你 您 他 她 它 我们 你们 他们 它们 这 那 这个 那个 这些 那些 可以 应该 能够 "
    "需要 请问 对于 关于 與 我們 你們 他們 它們 這 這個 那個 這些 應該 能夠 請問 對於 關於".split()
)
_LONGEST_CHINESE: Final = 4

IN_FRONT: Final = frozenset(
    "was kann darf muss puedo puede pueden podemos debo posso puoi pode devo peut czy ile hoe hur worden".split()
)
"""What asks as the first word of a question alone."""
_FEWEST: Final = 2  # different ones: "Die Hard" and "de novo" have one. What asks counts for two.


def naming(written: Sequence[str]) -> list[str]:
    """
    Leave the function words of its language out of a question, in Chinese too.

    :param written: Its words, in any case, in order.
    :returns: The others; all words of a question that has no others.
    """
    lowered = [word.lower() for word in written]
    common, chinese = function_words(lowered), _chinese_places(lowered)
    named = [
        word
        for place, (word, low) in enumerate(zip(written, lowered, strict=True))
        if low not in common and place not in chinese
    ]
    return named or list(written)


def _chinese_places(words: Sequence[str]) -> set[int]:
    """Find the function words of a question in Chinese: the places of their signs."""
    if not any(map(is_ideograph, words)) or any("\u3040" <= word[0] <= "\u30ff" for word in words):
        return set()
    runs = {
        (start, stop): "".join(words[start:stop])
        for start in range(len(words))
        for stop in range(start + 1, min(start + _LONGEST_CHINESE, len(words)) + 1)
    }
    if _CHINESE_ASKING.isdisjoint(runs.values()):
        return set()
    return {place for span, run in runs.items() if run in _CHINESE for place in range(*span)}


def function_words(words: Sequence[str]) -> frozenset[str]:
    """
    Find the function words of the language that a question is asked in.

    :param words: The words of the question, lower-case.
    :returns: Those of its `language_of`; none where that is None: `STOP_WORDS` are no terms anyway.
    """
    language = language_of(words)
    return FUNCTION_WORDS[language] if language else frozenset()


def language_of(words: Sequence[str]) -> str | None:
    """
    Tell the language that a question is asked in, by its function words.

    :param words: The words of the question, lower-case.
    :returns: A key of `FUNCTION_WORDS`, where the question has two words of it at least, or one that asks, and more
        than twice as many as it has of English; else None.
    """
    asked = set(words)
    if asked.isdisjoint(_NOT_ENGLISH):  # nearly always: what asks is one word, and two are needed
        return None
    best = max(_TELLING, key=lambda language: len(asked & _TELLING[language]))
    known = FUNCTION_WORDS[best]
    # A word of both languages, as `in` and `was`, tells neither; but in front `was` asks, and few words of English do.
    asks = bool(asked & known & ASKING) or not IN_FRONT.isdisjoint(words[:1])
    found = len(asked & _TELLING[best] - STOP_WORDS) + asks
    return best if found >= max(_FEWEST, 1 + 2 * len(asked & STOP_WORDS - known)) else None
