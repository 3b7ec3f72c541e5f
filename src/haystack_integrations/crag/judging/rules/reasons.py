"""
Why something is so, which a document that says only that it is so does not tell: "Close all windows when you leave."

To the words of a question such a document is as good as one with the reason. Of 48 lists of public datasets that
answer why, all have a word of a reason beside the words of the question.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from haystack_integrations.crag.judging.asking import kind_of
from haystack_integrations.crag.texts.text import sentences, terms
from haystack_integrations.crag.texts.wording import asked_terms

# Wide on purpose: "to keep it dry" may be a reason.
_REASON: Final = re.compile(
    r"(?i)\b(?:because|since|due to|owing to|given|thanks to|so|thus|hence|there(?:fore|by)|otherwise|responsible"
    r"|reasons?|purpose|le(?:d|ads?|ading) to|risk\w*|danger\w*|threat\w*|important|importance|need\w*"
    r"|(?:caus|result|attribut|consequen|aim|inten[dt]|prevent|avoid|protect|allow|ensur|enabl|expla|motiv|respon)\w*"
    r"|to (?!(?:be|the|an?|this|that|it|us|you|me|him|her|them|my|your|our|their)\b)[a-z]{2,})\b"
)

_WHY: Final = {
    "german": "warum|wieso|weshalb|weswegen",
    "french": "pourquoi",
    "spanish": "por qu[eé]",
    "italian": "perch[eé]|come mai",
    "portuguese": "por ?qu[eê]",
    "dutch": "waarom",
    "polish": "dlaczego|czemu",
    "swedish": "varf[öo]r",
    "russian": "почему|зачем|отчего",
    "turkish": r"(?:.*\b)?(?:neden|ni[çc]in|niye)",
}
"""What asks for a reason in other languages: in front of a question, but for Turkish."""
_ELSEWHERE: Final = {
    "german": (
        r"weil|da|denn|wegen|aufgrund|durch|infolge|dank|mangels|sonst|andernfalls|damit|so ?dass|um [^.;]* \w*zu"
        r"|daher|darum|deshalb|deswegen|folglich|dient\w*|zu[mr] \w+|(?:grund|gründe|ursach|gefahr|gefähr|risik)\w*"
        r"|(?:schütz|schutz|verhinder|vermeid|ermöglich|führ|notwendig|nötig|wichtig|erforder)\w*"
    ),
    "french": (
        r"parce|car|puisqu\w*|afin|donc|ainsi|faute|suite|sinon|sous peine|de peur|grâce|d[uû]e?s?"
        r"|pour (?!(?:les?|la|une?|des|ce\w*|[mtsnv]os|tou\w+|chaque)\b|l['\u2019]|\d)"
        r"|(?:raison|motif|caus|évit|empêch|prot[ée]g|permet|risqu|danger|nécess|besoin|import)\w*"
    ),
    "spanish": (
        r"porque|ya que|puesto que|pues|debido|por|a fin de|así|si no|de lo contrario|gracias"
        r"|para (?!(?:el|la|los|las|una?|sus?|cada|tod\w+)\b|\d)"
        r"|(?:caus|motiv|razon|razón|evit|imp[ei]d|prote[gj]|permit|riesg|peligr|neces|consecuen|import)\w*"
    ),
    "italian": (
        r"perch[eé]|poich[eé]|siccome|dato|visto|affinch[eé]|quindi|perciò|così|altrimenti|a seguito|grazie|dovut\w*"
        r"|per (?!(?:il|lo|la|i|gli|le|un\w?|ogni|tutt\w)\b|l['\u2019]|\d)"
        r"|(?:caus|motiv|ragion|evit|imped|prote[gt]|permett|risch|pericol|necess|consegu|import)\w*"
    ),
    "portuguese": (
        r"porque|pois|já que|uma vez que|visto|devido|por|pel[oa]s?|a fim de|assim|senão|caso contrário|graças"
        r"|para (?!(?:os?|as?|uma?|cada|tod\w+)\b|\d)"
        r"|(?:caus|motiv|razã|razõ|evit|imped|prote[gj]|permit|risc|perig|necess|consequ|import)\w*"
    ),
    "dutch": (
        r"omdat|want|doordat|wegens|vanwege|door|dankzij|zodat|opdat|om [^.;]* te|daarom|daardoor|dus|anders|aangezien"
        r"|(?:reden|oorzaak|gevaar|risico|voorkom|bescherm|nodig|noodza|belang|gevolg|leid)\w*"
    ),
    "polish": (
        r"bo|ponieważ|gdyż|bowiem|przez|z powodu|ze względu|wskutek|dzięki|aby|żeby|by|dlatego|więc|zatem|w celu"
        r"|inaczej|(?:powod|powód|przyczyn|niebezp|ryzyk|zagro|zapobie|chron|umożliw|koniecz|potrzeb|ważn|skut)\w*"
    ),
    "swedish": (
        r"eftersom|för|därför|på grund|genom|tack vare|så|annars|av"
        r"|(?:orsak|anledning|skäl|risk|fara|farlig|undvik|förhindr|skydd|möjliggör|behöv|nödvänd|viktig|led)\w*"
    ),
    "russian": (
        r"потому|так как|поскольку|ибо|из-за|по причине|в связи|вследствие|благодаря|чтобы|для|поэтому|иначе|ввиду"
        r"|ради|(?:причин|опасн|риск|угроз|защи|избежа|предотвра|позвол|необходим|нужн|важн)\w*"
    ),
    "turkish": (
        r"çünkü|için|dolay\u0131|nedeniyle|yüzünden|sayesinde|diye|zira|böylece|aksi|üzere"
        r"|(?:neden|sebep|sebeb|tehlike|risk|koru|önle|gerek|önem)\w*"
    ),
}
_BY_LANGUAGE: Final = {
    language: (
        re.compile(rf"(?i)\W*(?:{why})(?!\w)"),
        re.compile(rf"(?i)\b(?:{_ELSEWHERE[language]})(?:(?!\w)|(?<= ))"),
    )
    for language, why in _WHY.items()
}


def untold_reason(query: str, shown: Sequence[str], language: str | None = None) -> Iterator[str]:
    """
    Find out whether a reason is asked for that no document may tell.

    ```python
    from haystack_integrations.crag.judging.rules.reasons import untold_reason

    asked = "Why must all windows be closed?"
    assert [*untold_reason(asked, ["Close all windows. Lock the door."])] == ["why"]
    assert [*untold_reason(asked, ["Close all windows. Otherwise it rains in."])] == []
    ```

    :param query: The question.
    :param shown: The documents.
    :param language: The language of the question, in small letters; None for English.
    :returns: The question word, if so: none of the sentences that have most words of the question, and none beside
        them, has a word of a reason. What stands under that very question is its answer, in whatever words.
    """
    asked = set(asked_terms(query))
    if (reason := _reason_asked(query, language)) is not None and not _is_headed(asked, shown, language):
        near = list(_near(asked, shown))
        most = max((often for often, _ in near), default=0)
        if most and not any(reason.search(said) for often, said in near if often == most):
            yield "why"


def _reason_asked(query: str, language: str | None) -> re.Pattern[str] | None:
    """Give what a word of a reason looks like where a question asks why."""
    if language is None:
        return _REASON if kind_of(query) == "why" else None
    why, reason = _BY_LANGUAGE.get(language, (None, None))
    return reason if why and why.match(query) else None


def _is_headed(asked: set[str], shown: Sequence[str], language: str | None) -> bool:
    """Tell whether a line that asks why, with all words of the question, has a line below it that is no other one."""
    for text in shown:
        lines = [line.strip(" \t\r#*_") for line in text.split("\n")]
        for line, below in pairwise(filter(None, lines)):
            if asked.issubset(terms(line)) and not below.endswith("?") and _reason_asked(line, language) is not None:
                return bool(asked)
    return False


def _near(asked: set[str], shown: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give for each sentence how many words of the question it has, and what is said there, before and after it."""
    for text in shown:
        spans = [(0, 0), *sentences(text), (len(text), len(text))]
        for (start, _), (first, last), (_, end) in zip(spans, spans[1:], spans[2:], strict=False):
            yield len(asked.intersection(terms(text[first:last]))), text[start:end]
