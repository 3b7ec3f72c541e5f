"""What people write around a question is neither searched for nor judged by."""

import time
from unicodedata import is_normalized, normalize
from uuid import uuid4

import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hypothesis import given
from hypothesis import strategies as st
from makers import fill, scripted

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.questions.courtesies import asks_nothing, bare_question, language_of_talk
from haystack_integrations.crag.texts.questions.letters import in_plain_letters
from haystack_integrations.crag.texts.text import words

WROTE = "who wrote Emma?"

_questions = st.sampled_from(
    ["who wrote Emma?", "what is the notice period?", "how long is a lamp under warranty?", "is Madrid in Spain?"]
)
_leads = st.sampled_from(
    [
        "Hi, could you please tell me ",
        "Hello! ",
        "Good morning everyone, I was wondering ",
        "I would like to know ",
        "Hey there, quick question: ",
        "Does anyone know ",
        "According to our documents, ",
        "You are a helpful assistant. ",
        "I am writing a report for work and I have a question. ",
        "My boss asked me this morning and I could not answer. ",
        "Please explain to me ",
        "Can you let me know ",
        "My question is: ",
        "",
    ]
)
_tails = st.sampled_from(
    [
        " Thanks in advance!",
        " Answer in one short sentence.",
        " Explain step by step, use bullet points and give me the sources.",
        " Please answer in German.",
        " If you don't know, say so.",
        " I looked everywhere but could not find it.",
        " Thank you!",
        "",
    ]
)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Hi, could you please tell me who wrote Emma? Answer in one short sentence. Thanks in advance!", WROTE),
        ("Hello who wrote Emma?", WROTE),
        ("Fact-check: who wrote Emma?", WROTE),
        ("What can you tell me about the novel Emma?", "the novel Emma?"),
        ("Where can I find more information about the novel Emma?", "the novel Emma?"),
        ("Info on the novel Emma", "the novel Emma"),
        ("What is the definition of a novel?", "a novel?"),
        ("Second try: who wrote Emma?", WROTE),
        ("Exam question 7 (3 points): who wrote Emma?", WROTE),
        ("Dear chatbot, who wrote Emma?", WROTE),
        ("hey siri who wrote Emma?", WROTE),
        ("Oh wait, I meant: who wrote Emma?", WROTE),
        ("Act as a guide with 20 years of practice and tell me: who wrote Emma?", WROTE),
        ("Based on the uploaded PDF, who wrote Emma?", WROTE),
        ("In the document above, who wrote Emma?", WROTE),
        ("Search the knowledge base for: who wrote Emma?", WROTE),
        ("A colleague told me you can tell me who wrote Emma?", WROTE),
        ("I have a customer on the phone who asks who wrote Emma? What should I tell her?", WROTE),
        ("My friend and I are arguing about this: who wrote Emma?", WROTE),
        ("I looked everywhere but could not find it: who wrote Emma?", WROTE),
        ("I googled it but found nothing useful. who wrote Emma?", WROTE),
        ("No, that's not what I asked. who wrote Emma?", WROTE),
        ("who wrote Emma? (max. 50 words)", WROTE),
        ("who wrote Emma? site:example.com", WROTE),
        ("who wrote Emma? (bitte auf Deutsch antworten)", WROTE),
        ("who wrote Emma? Use only the provided documents and cite the page.", WROTE),
        ("who wrote Emma? Answer like a pirate.", WROTE),
        ("who wrote Emma? I need it by 5 pm today. It's for my quarterly report.", WROTE),
        ("who wrote Emma? And how sure are you?", WROTE),
        ("who wrote Emma? Select the best option. Answer with the letter only.", WROTE),
        ("who exactly wrote Emma?", WROTE),
        ("who the hell wrote Emma?", WROTE),
        ("Is it known who wrote Emma?", WROTE),
        ("who wrote Emma, please?", WROTE),
        ("who wrote Emma? thx", "who wrote Emma?"),
        ("who wrote emma answer in one sentence", "who wrote emma"),
        ("Do you know if trains run on Sunday, please?", "trains run on Sunday?"),
        ("Can you explain photosynthesis in simple terms?", "photosynthesis?"),
        ("Give me an overview of the leave policy", "the leave policy"),
        ("Tell me about the Battle of Hastings", "the Battle of Hastings"),
        ("Summarize the travel policy in three sentences.", "the travel policy."),
        ("I need help with my account login", "my account login"),
        ("What is the notice period according to the documents?", "What is the notice period?"),
        ("Question: What is the notice period?", "What is the notice period?"),
        ("Use the context to answer: who wrote Emma?", WROTE),
        ("Answer the question using the documents: who wrote Emma?", WROTE),
        ("In simple terms, who wrote Emma? Give as much detail as possible.", WROTE),
        ("Briefly: who wrote Emma? Return JSON.", WROTE),
        ("[Ticket #48213] URGENT: who wrote Emma? Don't make anything up.", WROTE),
        ("[2026-11-28T10:32:11Z] User: who wrote Emma?", WROTE),
        ("2026-11-28 10:32 - who wrote Emma? https://example.com/emma", WROTE),
        ("Fwd: Subject: Question\n\n1. who wrote Emma? (see page 12)", WROTE),
        ("My boss wants to know who wrote Emma? Answer in 50 words or less.", WROTE),
        ("One of our customers asked: who wrote Emma? Translate the answer into French.", WROTE),
        ("um so like who wrote Emma? ELI5", WROTE),
        ("Just curious, is it possible to find out who wrote Emma?", WROTE),
        ("What does the documentation say about this: who wrote Emma?", WROTE),
        ("Who wrote Emma exactly?", "Who wrote Emma?"),
        ("<question>\nwho wrote Emma?\n</question>", WROTE),
        ("<user_query>who wrote Emma?</user_query>", WROTE),
        ("Is Emma a novel? Yes or no?", "Is Emma a novel?"),
        ("Dringend: Meine Chefin fragt, wer schrieb Emma?", "wer schrieb Emma?"),
        ("@SupportBot who wrote Emma? - asking for a friend", WROTE),
        ("Can you find out who wrote Emma? I'm new here.", WROTE),
        ("Please walk me through it: who wrote Emma?", WROTE),
        ("Dear team, who wrote Emma? Best regards, Anna B. Smith", WROTE),
        (
            "Hallo, können Sie mir bitte sagen, wie lange die Probezeit dauert? Vielen Dank im Voraus!",
            "wie lange die Probezeit dauert?",
        ),
        ("Bonjour, pouvez-vous me dire quel est le délai ? Merci d'avance.", "quel est le délai ?"),
        ("Hola, ¿podría decirme cuál es el plazo? Gracias de antemano.", "cuál es el plazo?"),
        ("Ciao, potresti dirmi quanto dura la garanzia? Grazie mille", "quanto dura la garanzia?"),
        ("Olá, você poderia me dizer qual é o prazo? Obrigado!", "qual é o prazo?"),
        ("Hallo, kunt u mij vertellen hoe lang de garantie duurt? Alvast bedankt!", "hoe lang de garantie duurt?"),
        ("Hi team,\n\nwho wrote Emma?\n\nBest regards,\nJohn Smith\nSenior Manager | Acme", WROTE),
        ("Dear Ms. Miller,\nwho wrote Emma?\nSent from my iPhone", WROTE),
        ("Sehr geehrte Frau Maier,\nwer schrieb Emma?\nMit freundlichen Grüßen\nA. Schulz", "wer schrieb Emma?"),
        ("who wrote Emma https://example.com/wiki/display/EN/Emma?page=4711", "who wrote Emma"),
        ("https://example.com/wiki/Emma who wrote Emma?", WROTE),
        ("Tell me everything you know about the travel policy", "the travel policy"),
        ("Write a one-paragraph summary of what we know about the travel policy.", "the travel policy."),
        ("I need an overview of the travel policy", "the travel policy"),
        ("Draft five slides about the travel policy", "the travel policy"),
        ("List three facts about the travel policy", "the travel policy"),
        ("Explain the travel policy like I'm five", "Explain the travel policy"),
        ("Was wissen wir über die Reiserichtlinie?", "die Reiserichtlinie?"),
        ("<@U024BE7LH> who wrote Emma?", WROTE),
        ("@support who wrote Emma? #help #urgent", WROTE),
        ("who wrote Emma?\nP.S. The printer on the second floor is broken again.", WROTE),
        ("Ticket: 48213\nPriority: High\nReported by: Tom Keller\nDescription: who wrote Emma?", WROTE),
        ("who wrote Emma?\n--\nTom Keller\nSales | Example Ltd\nPhone: +49 30 1234567", WROTE),
        ("Здравствуйте, подскажите, кто написал Эмму? Спасибо", "кто написал Эмму?"),
    ],
)
def test_greetings_requests_thanks_and_how_to_answer_are_left_out(question: str, asked: str) -> None:
    """In front of what is asked, and behind it, in English and some other languages."""
    assert bare_question(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Emma?",
        "What kinds of life are there on earth today?",
        "Who sang Really Saying Something?",
        "Is it known?",
        "Copilot can read which files?",
        "Quiz: how do I add a picture?",
        "How do I change the filter? It's for my X200 washer.",
        "How do I change the filter? I need it for Windows 11.",
        "I have a customer with an X200 who asks how the filter is changed",
        "I looked at the X200 but could not find it: where is the filter?",
        "What should I tell my landlord?",
        "Homework: how much is given in a week?",
        "How do I act as a host?",
        "I bought a lamp. Can I return it?",
        "@Override annotation in Java",
        "How do I output JSON?",
        "Where is the song Thanks, Obama from?",
        "I am a student. Can I get a discount?",
        "My dishwasher shows E15. What can I do?",
        "I lost my badge. What now?",
        "Hello world program in Python",
        'Who sang "Hello"?',
        "Please Please Me was released when?",
        "How do you say thank you in German?",
        "What does EXPLAIN ANALYZE do?",
        "How do I show line numbers in vim?",
        "explain async function",
        "How do I ask for help?",
        "Can I get a refund?",
        "Can I ask for a raise?",
        "What is JSON? What is YAML?",
        "A hit song won big this week. Which was it?",
        "How to sort the items of a list?",
        "How do I write a table of contents?",
        "Write a letter of thanks to Anna",
        "Is Dear John a film?",
        "What is the best way to answer a question in an interview?",
        "Tell me more about it",
        "Did the U.S. in Russia paddle 1,200 miles?",
        "Is it for the U.S. only?",
        "What does J. Smith think? I am in the US.",
        "Dear Evan Hansen\nWhen was it first shown?",
        "Who maintains the shop at https://example.com/shop",
        "How do I write a report on sales?",
        "Who gives an overview of sales?",
        "annual report on safety",
        "How long is the break for the team?",
        "What we know is little",
        "What is https://example.com/shop",
        "How do I fix https://example.com/shop",
        "https://example.com/shop is down, who do I call?",
        "https://example.com/shop does not load. What now?",
        "When did people start to use #metoo",
        "@property or attribute in Python",
        "My lamp is broken\nhow do I order a new lamp",
        "Which of these is the largest?\nLG\nSony",
        "Who sings the song in English?",
        "How do I translate the page into French?",
        "A customer wants to return a product. What do I do?",
        "A new manager asks for access to the vault: who grants it?",
        "When was the ticket 48213 closed?",
        "1. FC Köln was founded when?",
        "In 2020 who won?",
        "Why do models make things up?",
        "Is example.com/emma about Emma?",
        "Like a Rolling Stone was written by whom?",
        "Right is which side of a ship?",
        "Can you help me?",
        "Thanks!",
        "Hi",
        "?",
        "",
    ],
)
def test_what_may_be_meant_stays(question: str) -> None:
    """Titles, words that are asked about, what somebody has or is; and a question that would have no word left."""
    assert bare_question(question) == question


@given(lead=_leads, question=_questions, tails=st.lists(_tails, max_size=3))
def test_courtesies_are_left_out_in_any_combination(lead: str, question: str, tails: list[str]) -> None:
    """One in front and several behind leave the question as it is."""
    assert bare_question(f"{lead}{question}{''.join(tails)}") == question


@given(st.text(max_size=200) | st.lists(st.one_of(_leads, _questions, _tails), max_size=6).map("".join))
def test_nothing_is_added_or_lost_that_names_something(text: str) -> None:
    """Each word of the result stands in the question, and a question with words keeps at least one."""
    bare = bare_question(text)
    assert set(words(bare)) <= set(words(text))
    assert bool(words(bare)) == bool(words(text))


@pytest.mark.parametrize(
    "text",
    [
        " " * 4_000 + "x",
        "please " * 600,
        "-" * 4_000,
        "hi, " * 1_000,
        "could you please maybe " * 170,
        "(i would like to know " * 180,
        "tell me more about the full detailed " * 110,
        "in a short brief " * 240,
        "ticket " + "1-" * 2_000,
        "um so like " * 370,
        "Hi. " * 1_000 + "What?",
    ],
)
def test_the_longest_question_is_read_at_once(text: str) -> None:
    """A pattern that tries all ways to read a run of marks would hold the event loop."""
    start = time.perf_counter()
    bare_question(text)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("name", ["corrective_retrieval", "signals_rag"])
def test_a_question_pasted_from_a_page_or_a_pdf_finds_and_judges_as_a_typed_one(name: str) -> None:
    """Soft hyphens, ligatures, zero-width spaces, other accents: no word with one was found, nor judged well."""
    store = InMemoryDocumentStore(index=uuid4().hex, embedding_similarity_function="cosine")
    page = "The o\ufb03ce certi\ufb01cate of a caf\u00e9 is renewed each year."
    fill(store, [Document(content=normalize("NFKC", page)), Document(content="The shop opens at nine.")])
    rag = load(name, store=store, **({} if name == "corrective_retrieval" else {"generator": scripted("Yearly [1].")}))
    typed = "Is the office certificate of a caf\u00e9 renewed?"
    pasted = "\ufeffIs the o\ufb03ce certi\ufb01\u00adcate of a cafe\u0301 re\u200bnewed?"
    records = [{**rag.run(query=question)["crag"], "milliseconds": 0, "tokens": 0} for question in (typed, pasted)]
    assert records[1]["queries"][0] == typed
    assert records[0] == records[1]


@given(st.text(alphabet="ab \u00e9e\u0301\u00ad\u2060\ufeff\ufb01\ufb06\u200c\u200d\u200b\u0645"))
def test_plain_letters_stay_as_they_are(text: str) -> None:
    """Once is enough, and what words are made of stays."""
    once = in_plain_letters(text)
    assert in_plain_letters(once) == once
    assert is_normalized("NFC", once)
    assert [once.count(joiner) for joiner in "\u200c\u200d"] == [text.count(one) for one in "\u200c\u200d"]


@pytest.mark.parametrize(
    ("message", "is_talk"),
    [
        ("Hi", True),
        ("Good morning team!", True),
        ("ok thanks, bye", True),
        ("That was very helpful, thank you \U0001f64f", True),
        ("Who are you? What can you do?", True),
        ("Danke sch\u00f6n!", True),
        ("\u4f60\u597d", True),
        ("\U0001f44d\U0001f3fd \u2764\ufe0f", True),
        ("\u2615?", False),
        ("Hi Anna", False),
        ("Hello world program", False),
        ("And in German, please?", False),
        ("no", False),
        ("Great Britain", False),
        ("What can you do about noise?", False),
        ("?", False),
        ("", False),
        ("hi " * 2_000, False),
    ],
)
def test_small_talk_asks_nothing(message: str, is_talk: bool) -> None:
    """A follow-up on the last answer does."""
    begun = time.monotonic()
    assert asks_nothing(message) is is_talk
    assert time.monotonic() - begun < 0.5


@pytest.mark.parametrize(
    ("message", "language"), [("Hallo zusammen!", "german"), ("hi, thanks", "english"), ("ok, merci", None)]
)
def test_small_talk_tells_its_language(message: str, language: str | None) -> None:
    """It has no words of grammar that would."""
    assert language_of_talk(message) == language


@pytest.mark.parametrize(
    "told",
    [
        "Answer as JSON with the keys answer and source.",
        "Put the answer in a table.",
        "Output only the name.",
        "Respond with the name and nothing else.",
        "Reply with yes or no.",
        "If unsure, reply UNKNOWN.",
        "Do not use outside knowledge.",
        "No explanations.",
        "Explain your reasoning.",
        "Think carefully before answering.",
        "You are an expert in film history.",
        "Act as a librarian.",
        "Include a confidence score.",
        "Check all the documents.",
        "Search the web if needed.",
        "Translate to French.",
        "It's for school.",
        "Sorry if this is a stupid question.",
        "I can't find this in the docs.",
    ],
)
def test_how_to_answer_who_answers_and_why_one_asks_are_no_question(told: str) -> None:
    """Behind the question, and in front of it."""
    assert bare_question(f"Who wrote Emma? {told}") == "Who wrote Emma?"
    assert bare_question(f"{told} Who wrote Emma?") == "Who wrote Emma?"


@pytest.mark.parametrize(
    "said",
    [
        "What I want to know is",
        "I forgot",
        "I'm not sure",
        "Nobody could tell me",
        "Someone asked me",
        "Do you remember",
        "Would you mind telling me",
        "Also tell me",
        "No, I meant",
        "Actually,",
        "One last thing:",
        "Follow-up:",
        "Ok thanks, and",
        "Got it.",
        "Great, thanks a lot! That's clear.",
        "Danke, super!",
    ],
)
def test_what_leads_to_a_question_is_none(said: str) -> None:
    """As people go on in a conversation."""
    assert bare_question(f"{said} who wrote Emma?") == "who wrote Emma?"


@pytest.mark.parametrize(
    "asked",
    [
        "In JSON, how do I write a comment?",
        "In a table, how do I merge cells?",
        "Nice, France: how many people live there?",
        "Thank you notes: how do I order them?",
        "Thanks, Obama: where does the meme come from?",
        "Who wrote Emma? Include the year.",
        "What does it mean when the light is red?",
        "Who knows what the code means?",
        "I bought it in 2019. Can I return it?",
        "How do I log in? I use the web version.",
        "Input: validation of forms",
        "You were asked to pay. What happens next?",
        "What do people ask when they buy a house?",
    ],
)
def test_what_looks_like_it_and_is_asked_about_stays(asked: str) -> None:
    """A word too many costs a search, a word too few the answer."""
    assert bare_question(asked) == asked
