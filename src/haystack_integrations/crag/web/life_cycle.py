"""What a component with nested web searches does for them: make them ready, write them down, close them."""

from functools import lru_cache
from typing import Any, Self

from haystack import default_from_dict, default_to_dict, logging
from haystack.core.serialization import component_from_dict, component_to_dict, import_class_by_name

from haystack_integrations.crag.closing import close_all, close_all_async
from haystack_integrations.crag.copying import Copied, settings_of
from haystack_integrations.crag.errors import ConfigurationError, CragError
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.web.providers import failure_of
from haystack_integrations.crag.web.search import WebSearchChain

logger = logging.getLogger(__name__)


class WebBacked(Copied):
    """
    Forwards the life cycle to the web search, or the list of them, in `self.websearch`.

    A search that cannot be made ready, for example for want of a key, is named in the log: a pipeline warms up before
    each run, and a run goes on without the web. Nothing is made ready while `self.enabled` is off.
    """

    websearch: Any
    enabled: bool
    _chain: WebSearchChain

    @property
    def can_be_asked(self) -> bool:
        """Whether there is a provider that a search now would ask: it is on, one is set up, and not left alone."""
        return self.enabled and any(provider.can_be_asked for provider in self._chain.providers)

    def warm_up(self) -> None:
        """Make the web searches ready."""
        for search in self._searches("warm_up"):
            try:
                search.warm_up()
            except Exception as error:
                _tell(search, error)

    async def warm_up_async(self) -> None:
        """Make the web searches ready on this event loop."""
        for search in self._searches("warm_up", "warm_up_async"):
            try:
                if hasattr(search, "warm_up_async"):
                    await search.warm_up_async()
                else:
                    search.warm_up()
            except Exception as error:
                _tell(search, error)

    def close(self) -> None:
        """Release what the web searches hold."""
        close_all(listed(self.websearch))

    async def close_async(self) -> None:
        """Release what the web searches hold on this event loop."""
        await close_all_async(listed(self.websearch))

    def to_dict(self) -> dict[str, Any]:
        """Write the component down, nested web searches included."""
        return default_to_dict(self, **{**settings_of(self), "websearch": stored(self.websearch)})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """
        Rebuild the component.

        :param data: What `to_dict` gave.
        :returns: The component.
        """
        values = data.get("init_parameters", {})
        values = {**values, "websearch": restored(values.get("websearch"))}
        return default_from_dict(cls, {**data, "init_parameters": values})

    def _searches(self, *doors: str) -> list[Any]:
        return [s for s in listed(self.websearch) if self.enabled and any(hasattr(s, door) for door in doors)]


def _tell(search: object, error: Exception) -> None:
    # What we say ourselves tells the way out; what others say may hold a key.
    why = str(error) if isinstance(error, CragError) else f"{failure_of(error).kind}: check its key and settings"
    _tell_once(type(search).__name__, why)


@lru_cache(maxsize=64)
def _tell_once(search: str, why: str) -> None:
    # Each pipeline warms up, and again before each run: what has not changed is no news. A search that then fails
    # is told and recorded by its run.
    logger.warning("{search} could not be initialised ({why}). Runs continue without it.", search=search, why=why)


def listed(websearch: Any) -> list[Any]:
    """
    Read one web search, or a list of them, as a list.

    :param websearch: What a user gave.
    :returns: A list of web searches.
    :raises ConfigurationError: When there is none, or one of them is no web search.
    """
    searches = list(websearch) if isinstance(websearch, list | tuple) else [websearch]
    wrong = [type(search).__name__ for search in searches if not _is_search(search)]
    if wrong or not searches:
        got = ", ".join(wrong) or "an empty list"
        msg = (
            "websearch must be a Haystack web search, which takes a query and gives documents, or a list of them, but "
            f"got {got}; for example SearXNGWebSearch()"
        )
        raise ConfigurationError(msg)
    return searches


def _is_search(search: Any) -> bool:
    """Tell whether something can be asked; a fetcher, which wants addresses, would fail at each question."""
    if isinstance(search, type) or not hasattr(search, "run"):
        return False
    takes, gives = sockets_of(search, "input"), sockets_of(search, "output")
    if takes is None or gives is None:  # not a component of Haystack's, or one that does not say what it gives
        return True
    needed = {name for name, socket in takes.items() if socket.is_mandatory}
    return "query" in takes and needed <= {"query"} and "documents" in gives


def stored(websearch: Any) -> Any:
    """
    Write web searches down. Haystack stores a nested component by itself only if it has a `to_dict`, which Tavily's and
    ddgs's have not, and no list of components at all.

    :param websearch: One web search, or a list of them.
    :returns: The same as plain values, in the form Haystack gives single components.
    """
    if isinstance(websearch, list | tuple):
        return [stored(search) for search in websearch]
    return component_to_dict(websearch, type(websearch).__name__)


def restored(websearch: Any) -> Any:
    """
    Rebuild web searches; Haystack's list of modules that may be loaded holds for them too.

    :param websearch: What `stored` gave.
    :returns: The web search, or the list of them.
    """
    if isinstance(websearch, list):
        return [restored(search) for search in websearch]
    if not isinstance(websearch, dict) or "type" not in websearch:
        return websearch
    return component_from_dict(import_class_by_name(websearch["type"]), websearch, "websearch")
