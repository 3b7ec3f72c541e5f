"""Prompts: jinja2 templates that are compiled once, checked when a component is built, and sandboxed."""

import re
import secrets
from string import ascii_lowercase
from typing import Any, Final

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from haystack_integrations.crag.errors import ConfigurationError

UNRENDERED: Final = "template"
"""A kind of failure: a user's template could not be rendered with what a run has, so that nothing was sent."""

_LETTERS: Final = 7  # 32 random bits in half as many tokens as hexadecimal digits: `benchmarks/reply_tokens.py`


def compile_template(text: str, whose: str, **probe: Any) -> tuple[Template, str]:
    """
    Compile a prompt, and render it once to see that it works.

    Compiled here and not in each run by Haystack's builders: that costs more than grading itself.

    :param text: The template; plain text, not HTML, so nothing is escaped.
    :param whose: What to call it in an error, for example `the grader's template`.
    :param probe: A value for each variable that the template may use.
    :returns: The template, and what it makes of the probe.
    :raises ConfigurationError: When it is no text, cannot be compiled or rendered, or uses an unknown variable.
    """
    if not isinstance(text, str):
        msg = f"{whose} must be a text, but got a {type(text).__name__}; write one text, not a list of messages"
        raise ConfigurationError(msg)
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    try:
        template = environment.from_string(text)
        return template, template.render(**probe)
    except Exception as error:  # whatever a user's template does, such as dividing by zero
        msg = f"{whose} cannot be used: {error}; it may use the variables {sorted(probe)}"
        raise ConfigurationError(msg) from None


def new_boundary(what: str) -> str:
    """
    Make the name of the tags around what others wrote, anew for each prompt: no text can know it, so none can end it.

    :param what: What stands inside, for the model to read.
    :returns: The name, with 7 random letters.
    """
    return f"{what}-{''.join(secrets.choice(ascii_lowercase) for _ in range(_LETTERS))}"


def named_boundary(*what: str) -> str:
    """
    Write an expression for the names that `new_boundary` makes.

    :param what: As `new_boundary` was given it, one or several.
    :returns: The expression; its one group is the name.
    """
    return rf"((?:{'|'.join(map(re.escape, what))})-[a-z]{{{_LETTERS}}})"


def bounded(text: str, what: str) -> list[tuple[int, int]]:
    """
    Find what stands inside the tags of a prompt.

    :param text: The prompt.
    :param what: As `new_boundary` was given it.
    :returns: Begin and end of each block in order, tags and a line's end after it included; empty where the prompt has
        no such tags.
    """
    first = re.search(rf"<{named_boundary(what)}[ >]", text)
    if first is None:
        return []
    return [found.span() for found in re.finditer(rf"<{first[1]}[ >].*?</{first[1]}>\n?", text, re.DOTALL)]
