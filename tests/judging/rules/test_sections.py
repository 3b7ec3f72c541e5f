"""What is told of one section's subject is not told of another's."""

import pytest
from haystack import Document
from judging_texts import asking

from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.judging.rules.sections import of_other_sections
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store

RECIPES = """# Recipes

## Plum cake

Flour, sugar and plums. Bake it for 45 minutes.

## Fish pie

Cod and potatoes. Do not freeze it.

## Lunch

At half past twelve."""
NUTS = "\n\n## Nuts\n\nDo not freeze them, nor a plum cake."
MINUTES = "1. Budget. It was approved. Rita voted against it.\n2. Summer party. It takes place in August.\n\nAll voted."
RULES = "**Phones.** They stay in the bag.\n\n**Caps.** They are folded in class. They start at 3."


@pytest.mark.parametrize(
    ("question", "text", "is_apart"),
    [
        ("Who voted against the summer party?", MINUTES, True),
        ("Who voted against the budget?", MINUTES, False),
        ("Are phones folded?", RULES, True),
        ("Are caps folded?", RULES, False),
        ("When do phones start?", RULES, False),  # said of what has a time in many ways
        ("Can I freeze the fish pie?", RECIPES, False),
        ("Can I freeze the plum cake?", RECIPES + NUTS, False),  # another section speaks of it
        ("Can I freeze the plum cake?", RECIPES, True),
        ("Can I freeze the lunch?", RECIPES, True),
        ("Can I fry the plum cake?", RECIPES, False),  # nothing is fried
        ("Can I freeze the cake?", RECIPES, False),
        ("Which recipes are there?", RECIPES, False),
        ("Can I freeze the plum cake?", "Plum cake. Do not freeze it.", False),
        ("Can I freeze the plum cake?", "# Plum cake\n\nFrozen it keeps for a year.", False),
        ("Can I freeze the plum cake?", "# Plum cake\n\nIt may be frozen.\n\n# Pie\n\nDo not freeze it.", False),
        ("What is it?", "", False),
    ],
)
def test_words_of_a_question_in_sections_of_other_names_are_noticed(question: str, text: str, is_apart: bool) -> None:
    """Headings, numbers and bold words begin sections; a blank line ends what only such words begin."""
    assert of_other_sections(asking(question), [("", text)]).tolist() == [is_apart]


def test_what_the_title_or_all_sections_say_names_no_section() -> None:
    """Plan is what all of them are."""
    plans = "# Basic plan\n\nA plan without support.\n\n# Pro plan\n\nA plan with support."
    for title in ("Plans", ""):
        said = [asking(f"Does the {name} plan have phones, or support?") for name in ("Basic", "Pro")]
        assert [of_other_sections(each, [(title, plans)]).tolist() for each in said] == [[False], [False]]
    without = plans.replace(" without support", "")
    asked = asking("Does the Basic plan have support?")
    assert of_other_sections(asked, [("Plans", without)]).tolist() == [True]


def test_what_is_told_in_another_section_does_not_answer() -> None:
    """In a store of recipes all words of the question are found."""
    store = memory_store()
    texts = [RECIPES, "# Drinks\n\nTea, coffee and juice.", "Dogs wait outside."]
    store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in texts])["documents"])
    rag = load("corrective_retrieval", store=store)
    assert rag.run(query="Can I freeze the fish pie?")["crag"]["verdict"] == "correct"
    assert rag.run(query="Can I freeze the plum cake?")["crag"]["verdict"] != "correct"
