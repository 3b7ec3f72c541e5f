"""Function words of other languages than English, for `function_words`; in small letters, with their marks."""

from typing import Final

GERMAN: Final = (
    "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines ich du er sie es "
    "wir ihr mich mir dich dir ihn ihm uns euch ihnen sich man mein meine meinen meinem meiner meines dein deine "
    "deinen deinem deiner deines sein seine seinen seinem seiner seines ihre ihren ihrem ihrer ihres unser unsere "
    "unseren unserem unserer unseres euer eure euren eurem eurer meins dies diese diesen diesem dieser dieses jene "
    "jenen jenem jener jenes jede jeden jedem jeder jedes alle allen allem aller alles manche manchen mancher solche "
    "solchen solcher einige einigen einiger etwas jemand jemanden niemand wer wen wem wessen was wann wo woher wohin "
    "warum wieso weshalb weswegen wie wieviel wieviele viel viele vielen welche welchen welchem welcher welches womit "
    "wofür wodurch wozu worauf woran worin wovon wobei wogegen worüber bin bist ist sind seid war warst waren wart sei "
    "seien wäre wären gewesen habe hast hat haben habt hatte hattest hatten hätte hätten gehabt werde wirst wird "
    "werden werdet wurde wurden würde würden worden geworden kann kannst können könnt konnte konnten könnte könnten "
    "muss musst müssen müsst musste mussten müsste müssten darf darfst dürfen dürft durfte dürfte soll sollst sollen "
    "sollt sollte sollten will willst wollen wollt wollte wollten mag magst mögen möchte möchten lässt lassen und oder "
    "aber denn sondern sowie sowohl noch auch nur schon sehr so als wenn falls weil da dass daß ob damit während "
    "nachdem bevor bis doch also zwar nicht nichts nie ja nein bitte mal eigentlich überhaupt in im ins an am ans auf "
    "aus bei beim mit nach von vom vor zu zum zur über um unter für durch gegen ohne seit wegen trotz zwischen neben "
    "hinter ab dabei dafür dagegen daran darauf daraus darin davon dazu dadurch darüber hier dort dann nun jetzt "
    "wieder gibt hin her tun tut macht machen mache bewirkt bewirken gilt gelten beträgt betragen lautet lauten heißt "
    "heißen bedeutet bedeuten"
)
FRENCH: Final = (
    "le la les l un une des du de d au aux ce cet cette ces c mon ma mes ton ta tes son sa ses notre nos votre vos "
    "leur leurs je j tu il elle on nous vous ils elles me m te t se s lui y en moi toi eux qui que qu quoi dont où "
    "quand comment pourquoi combien quel quelle quels quelles est sont était étaient être suis es êtes sommes été a ai "
    "as ont avons avez avait avaient avoir peut peux pouvons pouvez peuvent dois doit devons devez doivent fait faut "
    "et ou mais donc car ni ne n pas plus si à dans par pour sur sous avec sans chez entre vers depuis comme aussi "
    "très tout toute tous toutes lorsque puisque lequel laquelle lesquels lesquelles quelqu faire font fais signifie "
    "signifient pouvoir pourra pourrai pourrait pourraient pourrions pourriez pourrons pourrez devoir devra devrai "
    "devrait devraient devrons devrez serai sera seront serait seraient serez serons soit soient sois veux veut voulez "
    "veulent voudrais voudrait vouloir vais allons allez fera faites faite faudra faudrait cela ceci celui celle "
    "celles ceux chaque quelque quelques aucun aucune autre autres même mêmes après avant pendant contre lors afin "
    "jusque jusqu'à n'a n'y s'y moins trop peu beaucoup encore déjà toujours jamais existe existent"
)
SPANISH: Final = (
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
ITALIAN: Final = (
    "il lo la i gli le l un uno una di del dello della dei degli delle a ad al allo alla ai agli alle da dal dallo "
    "dalla dai dagli dalle in nel nello nella nei negli nelle con su sul sullo sulla sui sugli sulle per tra fra e ed "
    "o ma se che chi cui non si mi ti ci vi ne me te io tu lui lei noi voi loro mio mia miei mie tuo tua tuoi tue suo "
    "sua suoi sue nostro nostra nostri nostre vostro vostra questo questa questi queste quello quella quelli quelle "
    "come dove quando perché quanto quanta quanti quante quale quali qual cosa cos dov è sono sei siamo era erano "
    "essere stato ho hai ha abbiamo avete hanno avere posso puoi può possiamo possono potere devo devi deve dobbiamo "
    "devono dovrei dovrebbe bisogna faccio fa fanno fare anche più già dopo prima poi così molto tutto tutta tutti "
    "tutte significa significano dov'è cos'è com'è quant'è c'è senza sotto sopra durante contro verso fino ogni alcuni "
    "alcune altro altra altri altre stesso stessa sia siano sarà saranno sarebbe stata stati vorrei voglio vuole "
    "vogliamo vogliono volere potrei potrebbe potremmo dovrà qui ancora mai sempre meno poco troppo quindi esiste "
    "esistono vostri vostre avrei avrò avrà fosse fossero stanno sta sto stare va vanno viene vengono vado andare ecco "
    "oppure mentre qualcosa qualcuno nessuno nessuna niente nulla ciò tale tali entro presso tramite ognuno ciascuno "
    "ciascuna vorremmo dovremmo dovrebbero potrebbero succede succedono"
)
PORTUGUESE: Final = (
    "o a os as um uma uns umas de do da dos das dum duma em no na nos nas num numa por pelo pela pelos pelas para com "
    "sem sobre entre até desde ao aos à às e ou mas se que quem não eu tu ele ela nós vós eles elas você vocês me te "
    "lhe lhes meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas este esta estes estas esse "
    "essa esses essas isto isso aquele aquela aquilo como onde quando porquê porque quanto quanta quantos quantas qual "
    "quais é são sou somos era eram ser foi foram está estão estou estar há ter tem têm tenho temos pode posso podemos "
    "podem poder deve devo devemos devem deveria também mais já muito todo toda todos todas faz fazer fazem faço "
    "significa significam será serão seria seja estará haverá houve tinha tenha terei terá poderia poderiam poderei "
    "quero quer querem queremos gostaria vou vamos cada outro outra outros outras mesmo mesma durante contra após "
    "antes depois sob algum alguma alguns algumas nenhum nenhuma nada ninguém aqui ali ainda só menos tão tanto tanta "
    "existe existem fica ficam deste desta destes destas neste nesta nestes nestas desse dessa nesse nessa nele nela "
    "dele dela vosso vossa vossos vossas mim fui fosse sido sendo estava estavam esteja tiver tiverem tive teve tenham "
    "puder pudesse devia queria vai vão preciso precisa agora então pois nem aonde apenas qualquer quaisquer enquanto "
    "acontece acontecem gostava"
)
DUTCH: Final = (
    "de het een ik jij je u hij zij ze wij we jullie hen hun mij me jou ons zich men mijn jouw uw zijn haar onze dit "
    "dat deze die daar hier er wie wat waar waarom wanneer hoe hoeveel welk welke waarmee waarvoor waaraan waarin ben "
    "bent is was waren geweest heb hebt heeft hebben had hadden gehad word wordt worden werd werden geworden kan kun "
    "kunt kunnen kon konden moet moeten moest mag mogen wil wilt willen zal zult zullen zou zouden laat laten en of "
    "maar want dus ook nog al niet geen wel om te in op aan bij met van naar voor uit over onder tot tussen tegen door "
    "na als dan toen omdat terwijl zodat zo zeer graag doe doet doen betekent betekenen heet heten hoelang zo'n iets "
    "iemand niemand elke elk ieder iedere alle alles andere ander sinds tijdens zonder volgens binnen wilde wilden "
    "hoef hoeft hoeven geldt gelden bedraagt bedragen luidt luiden bestaat bestaan waarop waarover waaruit waarbij "
    "waarvan vanaf voordat nadat totdat zoals zelf veel meer weinig minder beide behalve zit zitten waarheen"
)
SWEDISH: Final = (
    "en ett den det de dem jag du han hon vi ni mig dig oss er sig man min mitt mina din ditt dina sin sitt sina vår "
    "vårt våra ert era denna detta dessa vem vad var vart när hur varför vilken vilket vilka är vara varit har hade "
    "haft blir bli blev blivit kan kunde ska skall skulle måste får fick bör borde vill ville och eller men för att "
    "som om i på av till med från hos vid mot under över efter före innan utan mellan inte ingen inget inga också så "
    "då här där in ut upp nu många mycket mer gör göra betyder heter finns fanns fått behöver behövs ha något någon "
    "några varje alla annan annat andra samma varifrån vems samt eftersom medan genom sedan redan ännu bara endast "
    "trots enligt åt inom går innebär gäller vore sådan sådana hennes hans deras dess därför längre"
)
RUSSIAN: Final = (
    "и в во не на с со к ко по о об от до из за для у при без под над перед между через про а но или да ли же бы то "
    "что чтобы как если когда где куда откуда почему зачем кто кого кому кем чего чему чем сколько какой какая какое "
    "какие какого каком какую каким каких каков какова каковы чей чья чьё это этот эта эти этого этой этом эту этих "
    "тот та те того той том тех который которая которое которые которого которой котором которых я мне меня мной ты "
    "тебе тебя мы нам нас вы вам вас он она оно они его её ему ей им их себя себе мой моя моё мои моего моей моих мою "
    "моём твой наш наша наше наши ваш ваша ваше ваши свой своя своё свои своего своей своих свою быть есть был была "
    "было были будет будут является являются могу может можем могут можно нужно надо нужен нужна нужны должен должна "
    "должно должны ещё уже также только более очень так все всё всех делает делают делать сделать означает называется "
    "буду будем мог могла могли сможет хочу хочет хотим хотят следует имеет имеют иметь кроме после против около "
    "согласно этими тем теми тому всем всего каждый каждая каждое каждого каждой каждые другой другая другие других "
    "сам сама сами никто ничего лишь либо потому поэтому хотя пока чьи вами ними ней нём него неё моим вашего вашей "
    "вашем вашу вашим ваших нашего нашей нашем нашу наших там тут здесь теперь тогда такой такая такое такие "
    "составляет составляют происходит значит нельзя насколько какими"
)
POLISH: Final = (
    "i w we z ze na do od po o u za przed pod nad przy dla bez przez między a ale lub albo czy że żeby aby jeśli gdy "
    "kiedy gdzie skąd dokąd dlaczego jak ile co kto kogo komu czego czemu czym kim jaki jaka jakie jakiego jakiej "
    "jakim jakich który która które którego której którym których którą ta to te tego tej temu tym tych tą ja ty on "
    "ona ono my wy oni mnie mi mną ciebie ci nam nas was jego go jej ją ich im się siebie sobie mój moja moje mojego "
    "mojej moim twój swój swoja swoje swojego swojej nasz jest są był była było były być będzie jestem mogę może "
    "możemy mogą można należy trzeba muszę musi powinien powinna powinno mam ma mamy mają nie też także już jeszcze "
    "tylko bardzo więc robi robią robić zrobić oznacza oznaczają chciałbym chciałabym chcę chce chcemy możesz mógłbym "
    "mogłabym mogła mógł naszego nasza nasze naszych naszej naszym wasz wasza wasze waszej pani państwo zostać został "
    "została zostało zostały zostanie zostaną tymi tam tutaj teraz potem nikt ktoś każdy każda każde każdego każdej "
    "wszystko wszyscy wszystkie inny inna inne innych taki taka takie takich którzy kilka wiele dużo mniej więcej oraz "
    "jednak ponieważ podczas zanim wobec według oprócz zamiast powinni musimy muszą mieć miał miała bym "
    "proszę wolno znaczy"
)
TURKISH: Final = (
    "ne nedir neden niçin niye nasıl nerede nereye nereden hangi hangisi kaç kim kime kimin kimler mi mı mu mü mıdır "
    "midir mudur müdür bir bu şu o bunu bunun buna bunlar ve veya ya da de ile için ama fakat gibi kadar göre ben beni "
    "bana benim sen seni sana senin biz bize bizim siz size sizin onlar onu ona onun var yok vardır olur olan olarak "
    "olmak oldu olması değil daha çok en her hiç ise eğer sonra önce yapar yapmak yapılır yaparım eder etmek edilir "
    "ederim miyim mıyım muyum müyüm misin mısın musun müsün miyiz mıyız muyuz müyüz misiniz mısınız musunuz müsünüz "
    "neler neyi neye neyin neresi kimi kimden kiminle kaçta kaçıncı şey bunların bunda bundan onda ondan onlara "
    "onların bizi sizi kendi hakkında karşı rağmen beri yani ancak çünkü hem sadece bazı birçok bütün tüm hiçbir başka "
    "diğer aynı böyle şöyle öyle şimdi artık az fazla olsa olursa olacak oluyor olabilir olmaz olmalı ediyor edebilir "
    "edebilirim yapabilir yapabilirim yapıyor gerekir gerekiyor gerekli gerek lazım mümkün istiyorum zaman nelerdir "
    "kimdir neresidir hangisidir nasıldır kaçtır değildir yoktur lütfen acaba demek sıklıkla"
)
KOREAN: Final = (
    "무엇 무엇을 무엇이 무엇인가요 무엇입니까 뭐 뭘 뭔가요 누구 누가 누구의 언제 언제부터 언제까지 어디 어디서 "
    "어디에 어디에서 어디로 어떻게 어떤 어느 무슨 왜 몇 며칠 며칠입니까 얼마 얼마나 얼마예요 얼마인가요 "
    "얼마입니까 수 것 것은 것이 때 등 및 또는 그리고 은 는 이 가 을 를 의 에 로 와 과 도 만 에서 으로 이나 저 제 "
    "제가 나는 내 우리 그 이것 저것 하나요 하나 되나요 됩니까 합니까 하려면 해야 할 한 하는 하면 되는 있나요 "
    "있습니까 있는 있어요 있는지 없나요 없습니까 없는 인가요 입니까 대한 대해 위한 위해 관한"
)
TELLING: Final = {
    "german": "kostet dauert",
    "french": "coûte coûtent durent",
    "spanish": "cuesta cuestan",
    "italian": "costano durano",
    "portuguese": "custa custam demora",
    "dutch": "kost duurt",
    "swedish": "kostar",
    "russian": "стоит стоят длится",
    "polish": "kosztuje kosztują trwa trwają",
}
"""What tells a language that a short question is in, though it is no word of grammar."""
