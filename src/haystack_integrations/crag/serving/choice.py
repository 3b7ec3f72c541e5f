"""Which pipelines a server serves: those that are named, or all that can run with the model there is."""

from haystack_integrations.crag.chat_model import HOW_TO_SET, ChatModel, has_key
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.checks import answers_questions, wants_a_model
from haystack_integrations.crag.pipelines.loader import names, read
from haystack_integrations.crag.serving.settings import ServeSettings


def query_pipelines() -> dict[str, bool]:
    """
    List the shipped pipelines that answer questions.

    :returns: By name, whether one asks a chat model.
    """
    found = {name: read(name) for name in names()}
    return {name: wants_a_model(spec) for name, spec in found.items() if answers_questions(spec)}


def chosen_pipelines(settings: ServeSettings, model: ChatModel | None) -> list[str]:
    """
    Choose the pipelines.

    :param settings: The settings.
    :param model: The chat model that is configured, if there is one; else a key may be for that of the YAML.
    :returns: Their names.
    :raises ConfigurationError: For one that is unknown, is none for questions, or needs a chat model.
    """
    known = query_pipelines()
    unknown = sorted(set(settings.pipelines) - set(known))
    if unknown:
        msg = f"got the pipelines {unknown}, wanted some of {list(known)}; correct --pipelines"
        raise ConfigurationError(msg)
    # Where none asks a model, a key or proxy that no client of one could use keeps nobody from serving them.
    has_model = bool(model) or (any(known[name] for name in settings.pipelines or known) and has_key())
    able = [name for name, asks in known.items() if has_model or not asks]
    unable = sorted(set(settings.pipelines) - set(able))
    if unable:
        msg = f"the pipelines {unable} ask a chat model, but none is configured; {HOW_TO_SET}, or serve only {able}"
        raise ConfigurationError(msg)
    return [name for name in able if name in settings.pipelines or not settings.pipelines]
