"""The words that hold a question together in some languages beside English, and name nothing that a text can lack."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from haystack_integrations.crag.texts.spelling import one_spelling
from haystack_integrations.crag.texts.stemming import STOP_WORDS
from haystack_integrations.crag.texts.text import is_ideograph

_GERMAN: Final = (
    "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines ich du er sie "
    "es wir ihr mich mir dich dir ihn ihm uns euch ihnen sich man mein meine meinen meinem meiner meines dein deine "
    "deinen deinem deiner deines sein seine seinen seinem seiner seines ihre ihren ihrem ihrer ihres unser unsere "
    "unseren unserem unserer unseres euer eure euren eurem eurer meins dies diese diesen diesem dieser dieses jene "
    "jenen jenem jener jenes jede jeden jedem jeder jedes alle allen allem aller alles manche manchen mancher "
    "solche solchen solcher einige einigen einiger etwas jemand jemanden niemand wer wen wem wessen was wann wo "
    "woher wohin warum wieso weshalb weswegen wie wieviel wieviele viel viele vielen welche welchen welchem welcher "
    "welches womit wofür wodurch wozu worauf woran worin wovon wobei wogegen worüber bin bist ist sind seid war "
    "warst waren wart sei seien wäre wären gewesen habe hast hat haben habt hatte hattest hatten hätte hätten "
    "gehabt werde wirst wird werden werdet wurde wurden würde würden worden geworden kann kannst können könnt "
    "konnte konnten könnte könnten muss musst müssen müsst musste mussten müsste müssten darf darfst dürfen dürft "
    "durfte dürfte soll sollst sollen sollt sollte sollten will willst wollen wollt wollte wollten mag magst mögen "
    "möchte möchten lässt lassen und oder aber denn sondern sowie sowohl noch auch nur schon sehr so als wenn falls "
    "weil da dass daß ob damit während nachdem bevor bis doch also zwar nicht nichts nie ja nein bitte mal "
    "eigentlich überhaupt in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur über um unter für "
    "durch gegen ohne seit wegen trotz zwischen neben hinter ab dabei dafür dagegen daran darauf daraus darin davon "
    "dazu dadurch darüber hier dort dann nun jetzt wieder gibt hin her tun tut macht machen mache bewirkt bewirken "
    "gilt gelten beträgt betragen lautet lauten heißt heißen bedeutet bedeuten"
)
_FRENCH: Final = (
    "le la les l un une des du de d au aux ce cet cette ces c mon ma mes ton ta tes son sa ses notre nos votre vos "
    "leur leurs je j tu il elle on nous vous ils elles me m te t se s lui y en moi toi eux qui que qu quoi dont où "
    "quand comment pourquoi combien quel quelle quels quelles est sont était étaient être suis es êtes sommes été a "
    "ai as ont avons avez avait avaient avoir peut peux pouvons pouvez peuvent dois doit devons devez doivent fait "
    "faut et ou mais donc car ni ne n pas plus si à dans par pour sur sous avec sans chez entre vers depuis comme "
    "aussi très tout toute tous toutes lorsque puisque lequel laquelle lesquels lesquelles quelqu faire font fais "
    "signifie signifient pouvoir pourra pourrai pourrait pourraient pourrions pourriez pourrons pourrez devoir devra "
    "devrai devrait devraient devrons devrez serai sera seront serait seraient serez serons soit soient sois veux "
    "veut voulez veulent voudrais voudrait vouloir vais allons allez fera faites faite faudra faudrait cela ceci "
    "celui celle celles ceux chaque quelque quelques aucun aucune autre autres même mêmes après avant pendant contre "
    "lors afin jusque jusqu'à n'a n'y s'y moins trop peu beaucoup encore déjà toujours jamais existe existent"
)
_SPANISH: Final = (
    "el la los las lo un una unos unas de del al a en con sin por para sobre entre desde hasta hacia según y e o u ni "
    "pero sino que si no yo tú él ella usted nosotros vosotros ellos ellas ustedes me te se le les nos os mi mis tu "
    "tus su sus nuestro nuestra nuestros nuestras este esta estos estas ese esa esos esas aquel aquella esto eso qué "
    "quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo adónde es son era eran ser soy eres "
    "somos fue fueron está están estoy estaba estar hay he ha has han hemos había haber puede puedo puedes pueden "
    "poder debe debo deben como cuando donde porque más muy también ya todo toda todos todas hace hacer hacen hago "
    "significa significan tengo tiene tienes tenemos tienen tener tenía tendré tendrá tenga será serán sería sea sean "
    "fuera estará estarán haya hubo habrá podré podrá podría podrían podemos debería deberían debemos quiero quiere "
    "queremos quieren quisiera querer voy vamos hacerse hacerme cada durante tras ante bajo contra mediante menos tan "
    "tanto tanta tantos tantas mucho mucha muchos muchas poco algo alguien algún alguno alguna algunos algunas nada "
    "nadie ningún ninguna otro otra otros otras mismo misma mismos aquí allí así entonces aunque mientras antes "
    "después existe existen"
)
_ITALIAN: Final = (
    "il lo la i gli le l un uno una di del dello della dei degli delle a ad al allo alla ai agli alle da dal dallo "
    "dalla dai dagli dalle in nel nello nella nei negli nelle con su sul sullo sulla sui sugli sulle per tra fra e ed "
    "o ma se che chi cui non si mi ti ci vi ne me te io tu lui lei noi voi loro mio mia miei mie tuo tua tuoi tue suo "
    "sua suoi sue nostro nostra nostri nostre vostro vostra questo questa questi queste quello quella quelli quelle "
    "come dove quando perché quanto quanta quanti quante quale quali qual cosa cos dov è sono sei siamo era erano "
    "essere stato ho hai ha abbiamo avete hanno avere posso puoi può possiamo possono potere devo devi deve dobbiamo "
    "devono dovrei dovrebbe bisogna faccio fa fanno fare anche più già dopo prima poi così molto tutto tutta tutti "
    "tutte significa significano dov'è cos'è com'è quant'è c'è senza sotto sopra durante contro verso fino ogni "
    "alcuni alcune altro altra altri altre stesso stessa sia siano sarà saranno sarebbe stata stati vorrei voglio "
    "vuole vogliamo vogliono volere potrei potrebbe potremmo dovrà qui ancora mai sempre meno poco troppo quindi "
    "esiste esistono"
)
_PORTUGUESE: Final = (
    "o a os as um uma uns umas de do da dos das dum duma em no na nos nas num numa por pelo pela pelos pelas para com "
    "sem sobre entre até desde ao aos à às e ou mas se que quem não eu tu ele ela nós vós eles elas você vocês me te "
    "lhe lhes meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas este esta estes estas esse "
    "essa esses essas isto isso aquele aquela aquilo como onde quando porquê porque quanto quanta quantos quantas "
    "qual quais é são sou somos era eram ser foi foram está estão estou estar há ter tem têm tenho temos pode posso "
    "podemos podem poder deve devo devemos devem deveria também mais já muito todo toda todos todas faz fazer fazem "
    "faço significa significam será serão seria seja estará haverá houve tinha tenha terei terá poderia poderiam "
    "poderei quero quer querem queremos gostaria vou vamos cada outro outra outros outras mesmo mesma durante contra "
    "após antes depois sob algum alguma alguns algumas nenhum nenhuma nada ninguém aqui ali ainda só menos tão tanto "
    "tanta existe existem fica ficam"
)
_DUTCH: Final = (
    "de het een ik jij je u hij zij ze wij we jullie hen hun mij me jou ons zich men mijn jouw uw zijn haar onze dit "
    "dat deze die daar hier er wie wat waar waarom wanneer hoe hoeveel welk welke waarmee waarvoor waaraan waarin ben "
    "bent is was waren geweest heb hebt heeft hebben had hadden gehad word wordt worden werd werden geworden kan kun "
    "kunt kunnen kon konden moet moeten moest mag mogen wil wilt willen zal zult zullen zou zouden laat laten en of "
    "maar want dus ook nog al niet geen wel om te in op aan bij met van naar voor uit over onder tot tussen tegen "
    "door na als dan toen omdat terwijl zodat zo zeer graag doe doet doen betekent betekenen heet heten hoelang zo'n "
    "iets iemand niemand elke elk ieder iedere alle alles andere ander sinds tijdens zonder volgens binnen wilde "
    "wilden hoef hoeft hoeven geldt gelden bedraagt bedragen luidt luiden bestaat bestaan"
)
_SWEDISH: Final = (
    "en ett den det de dem jag du han hon vi ni mig dig oss er sig man min mitt mina din ditt dina sin sitt sina vår "
    "vårt våra ert era denna detta dessa vem vad var vart när hur varför vilken vilket vilka är vara varit har hade "
    "haft blir bli blev blivit kan kunde ska skall skulle måste får fick bör borde vill ville och eller men för att "
    "som om i på av till med från hos vid mot under över efter före innan utan mellan inte ingen inget inga också så "
    "då här där in ut upp nu många mycket mer gör göra betyder heter"
)
_RUSSIAN: Final = (
    "и в во не на с со к ко по о об от до из за для у при без под над перед между через про а но или да ли же бы то "
    "что чтобы как если когда где куда откуда почему зачем кто кого кому кем чего чему чем сколько какой какая какое "
    "какие какого каком какую каким каких каков какова каковы чей чья чьё это этот эта эти этого этой этом эту этих "
    "тот та те того той том тех который которая которое которые которого которой котором которых я мне меня мной ты "
    "тебе тебя мы нам нас вы вам вас он она оно они его её ему ей им их себя себе мой моя моё мои моего моей моих мою "
    "моём твой наш наша наше наши ваш ваша ваше ваши свой своя своё свои своего своей своих свою быть есть был была "
    "было были будет будут является являются могу может можем могут можно нужно надо нужен нужна нужны должен должна "
    "должно должны ещё уже также только более очень так все всё всех делает делают делать сделать означает называется"
)
_POLISH: Final = (
    "i w we z ze na do od po o u za przed pod nad przy dla bez przez między a ale lub albo czy że żeby aby jeśli gdy "
    "kiedy gdzie skąd dokąd dlaczego jak ile co kto kogo komu czego czemu czym kim jaki jaka jakie jakiego jakiej "
    "jakim jakich który która które którego której którym których którą ta to te tego tej temu tym tych tą ja ty on "
    "ona ono my wy oni mnie mi mną ciebie ci nam nas was jego go jej ją ich im się siebie sobie mój moja moje mojego "
    "mojej moim twój swój swoja swoje swojego swojej nasz jest są był była było były być będzie jestem mogę może "
    "możemy mogą można należy trzeba muszę musi powinien powinna powinno mam ma mamy mają nie też także już jeszcze "
    "tylko bardzo więc robi robią robić zrobić oznacza oznaczają"
)
_TURKISH: Final = (
    "ne nedir neden niçin niye nasıl nerede nereye nereden hangi hangisi kaç kim kime kimin kimler mi mı mu mü mıdır "
    "midir mudur müdür bir bu şu o bunu bunun buna bunlar ve veya ya da de ile için ama fakat gibi kadar göre ben beni "
    "bana benim sen seni sana senin biz bize bizim siz size sizin onlar onu ona onun var yok vardır olur olan olarak "
    "olmak oldu olması değil daha çok en her hiç ise eğer sonra önce yapar yapmak yapılır yaparım eder etmek "
    "edilir ederim"
)
_KOREAN: Final = (
    "무엇 무엇을 무엇이 무엇인가요 무엇입니까 뭐 뭘 뭔가요 누구 누가 누구의 언제 언제부터 언제까지 어디 어디서 "
    "어디에 어디에서 어디로 어떻게 어떤 어느 무슨 왜 몇 며칠 며칠입니까 얼마 얼마나 얼마예요 얼마인가요 "
    "얼마입니까 수 것 것은 것이 때 등 및 또는 그리고 은 는 이 가 을 를 의 에 로 와 과 도 만 에서 으로 이나 저 제 "
    "제가 나는 내 우리 그 이것 저것 하나요 하나 되나요 됩니까 합니까 하려면 해야 할 한 하는 하면 되는 있나요 "
    "있습니까 있는 있어요 있는지 없나요 없습니까 없는 인가요 입니까 대한 대해 위한 위해 관한"
)


def _as_typed(words: Iterable[str]) -> Iterator[str]:
    """Give words as they are, as they are without their marks, and with German ones spelt out (fuer)."""
    for word in words:
        yield from (word, one_spelling(word), word.translate(_SPELT_OUT))


_SPELT_OUT: Final = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})
FUNCTION_WORDS: Final = {
    **{
        language: frozenset(_as_typed(words.split()))
        for language, words in (
            ("german", _GERMAN),
            ("french", _FRENCH),
            ("spanish", _SPANISH),
            ("italian", _ITALIAN),
            ("portuguese", _PORTUGUESE),
            ("dutch", _DUTCH),
            ("swedish", _SWEDISH),
            ("russian", _RUSSIAN),
            ("polish", _POLISH),
            ("turkish", _TURKISH),
        )
    },
    "korean": frozenset(_KOREAN.split()),
}
"""By language."""

_ASKING: Final = (
    "who whom whose what which when where why how many much wer wen wem wessen wann wo woher wohin warum wieso weshalb "
    "wie wieviel viele welche welchem welchen welcher welches qui que quoi quel quelle quels quelles quand où pourquoi "
    "combien quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas perché quanto quanta quanti "
    "quante quale quali dov'è cos'è com'è quant'è quem onde quantos quantas quais waar waarom wanneer hoeveel hoelang "
    "welk welke när varför vilken vilket vilka kto gdzie kiedy dlaczego jaki jaka jakie który która które кто что где "
    "когда куда откуда почему зачем как сколько какой какая какое какие каков nedir niçin niye nasıl nerede nereye "
    "nereden hangi hangisi kaç"
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

_IN_FRONT: Final = frozenset("was kann darf muss puedo puede pueden podemos debo posso puoi pode devo peut czy".split())
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
    best = max(FUNCTION_WORDS, key=lambda language: len(asked & FUNCTION_WORDS[language]))
    known = FUNCTION_WORDS[best]
    # A word of both languages, as `in` and `was`, tells neither; but in front `was` asks, and few words of English do.
    asks = bool(asked & known & ASKING) or not _IN_FRONT.isdisjoint(words[:1])
    found = len(asked & known - STOP_WORDS) + asks
    return best if found >= max(_FEWEST, 1 + 2 * len(asked & STOP_WORDS - known)) else None
