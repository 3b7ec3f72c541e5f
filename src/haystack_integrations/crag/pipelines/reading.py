"""Reading a pipeline's YAML: what cannot be read is told with its line, and so is what would be read and lost."""

from collections import Counter
from typing import Any, Final

import yaml

from haystack_integrations.crag.errors import ConfigurationError

_MERGES: Final = "tag:yaml.org,2002:merge"


class _EachKeyOnce(yaml.SafeLoader):
    """YAML's own reader takes the last of two equal keys, and of a component under a name that is taken, nothing."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Refuse a key that stands twice, before `<<` brings in those of another mapping, which it may replace."""
        node = super().compose_mapping_node(anchor)
        # Two of `<<` bring in two mappings, and 1 is another key than '1'.
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.tag != _MERGES]
        if twice := [key for key, times in Counter((key.tag, key.value) for key in keys).items() if times > 1]:
            mark = [key.start_mark for key in keys if key.value == twice[0][1]][-1]
            problem = f"the key {twice[0][1]!r} stands twice in one mapping, where only one would count"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Tell what a value is none of, such as a date: Python fails in many ways, and not in words of the file."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError):
            problem = f"what stands there is no {node.tag.rpartition(':')[2]}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None


def parsed(name: str, text: str) -> Any:
    """
    Read YAML.

    :param name: What the user calls the pipeline.
    :param text: The YAML.
    :returns: What it holds.
    :raises ConfigurationError: For what is no YAML, asks for more than plain values, or has a key twice.
    """
    try:
        return yaml.load(text, Loader=_EachKeyOnce)  # noqa: S506 # it is a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        msg = f"{name!r} is no readable YAML: {_why(error)}; check its indentation, quotes and brackets"
        raise ConfigurationError(msg) from None


def _why(error: Exception) -> str:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, yaml.MarkedYAMLError):
        why = error.problem or why
        mark = error.problem_mark or error.context_mark
        why = f"{why}, in line {mark.line + 1}" if mark else why
    if "undefined alias" in why:
        why += " (its & stood in a part that was taken out: write what it stands for where it is used first)"
    return why
