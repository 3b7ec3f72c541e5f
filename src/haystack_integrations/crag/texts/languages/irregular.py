"""English words in forms that no ending tells: frozen, freeze; paid, pay; children, child."""

from collections.abc import Mapping
from typing import Final

from haystack_integrations.crag.texts.languages.stemming import STEMS

_FORMS: Final = (
    "become became|begin began begun|bite bitten|break broke broken|bring brought|build built|burn burnt"
    "|buy bought|catch caught|child children|choose chose chosen|draw drew drawn|drink drank drunk"
    "|drive drove driven|eat ate eaten|fall fell fallen|fight fought|fly flew flown|foot feet"
    "|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen|get got gotten|give gave given"
    "|go went gone|grow grew grown|hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led"
    "|learn learnt|lend lent|lose lost|make made|man men|mean meant|meet met|pay paid|ride rode ridden"
    "|run ran|say said|see seen|sell sold|send sent|shake shook shaken|show shown|shrink shrank shrunk"
    "|sing sang sung|sink sank sunk|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen"
    "|swear swore sworn|swim swam swum|take took taken|teach taught|tear tore torn|tell told|think thought"
    "|throw threw thrown|tooth teeth|understand understood|wake woke woken|wear wore worn|wife wives|win won"
    "|withdraw withdrew withdrawn|woman women|write wrote written"
).split("|")
"""None that is a word of its own (left, found, saw)."""

_OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    STEMS[word]: tuple(other for other in forms.split() if other != word) for forms in _FORMS for word in forms.split()
}


def irregular_forms(word: str) -> tuple[str, ...]:
    """
    Give the other forms of an irregular word.

    ```python
    from haystack_integrations.crag.texts.languages.irregular import irregular_forms

    assert irregular_forms("freezing") == ("froze", "frozen")
    assert irregular_forms("walking") == ()
    ```

    :param word: A word in small letters.
    :returns: Those that do not have its stem; none for most words.
    """
    return _OTHERS.get(STEMS[word], ())
