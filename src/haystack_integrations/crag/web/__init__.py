"""The web as a source: providers and their breakers, the chain that asks them, and what their results become."""

from haystack_integrations.crag.breaker import Breaker, Ticket
from haystack_integrations.crag.web.outcome import Answer, Outcome
from haystack_integrations.crag.web.providers import Failure, Provider, failure_of
from haystack_integrations.crag.web.search import WebSearchChain

__all__ = ["Answer", "Breaker", "Failure", "Outcome", "Provider", "Ticket", "WebSearchChain", "failure_of"]
