"""What must hold for a pipeline before its first question."""

from haystack import Pipeline

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.vocabulary import LOOP_ACTIONS


def check_actions(pipeline: Pipeline) -> None:
    """
    Refuse a router whose policy names a correction that leads nowhere: such a run would end without a word.

    :param pipeline: A loaded pipeline.
    :raises ConfigurationError: Naming the router, the action and the way out.
    """
    for name in pipeline.graph.nodes:
        router = pipeline.get_component(name)
        if not isinstance(router, CragRouter) or router.mode == "off":
            continue
        connected = {data["from_socket"].name for _, _, data in pipeline.graph.out_edges(name, data=True)}
        ladders = (router.on_ambiguous, router.on_incorrect, router.on_ungraded)
        wanted = {action for ladder in ladders for action in ([ladder] if isinstance(ladder, str) else ladder)}
        wanted |= {"web_and_refine"} if router.keep_good and "web" in wanted else set()
        if missing := sorted((wanted & LOOP_ACTIONS) - connected):
            msg = (
                f"the policy of {name!r} may choose {missing}, but nothing is connected to {missing[0]!r}; connect a "
                f"correction to {name}.{missing[0]}, or choose another action"
            )
            raise ConfigurationError(msg)
