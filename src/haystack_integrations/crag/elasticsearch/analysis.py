"""How an index of Elasticsearch reads words: as its template says, else as the shipped profile says."""

from typing import TYPE_CHECKING, Any, Final

from haystack import logging

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

logger = logging.getLogger(__name__)

_MAY_NOT_ASK: Final = (400, 401, 403, 404, 405)
# Answered when the first copy of each shard is there, which a server that has just started takes its time for.
_PATIENCE_S: Final = 60


def make_index(client: "Elasticsearch", index: str, settings: dict[str, Any], mappings: dict[str, Any]) -> str | None:
    """
    Make an index. The analysis among its settings gives way to a default analyzer of the index template.

    :param client: Connected to the server.
    :param index: Its name.
    :param settings: Its settings; without those under `analysis` if the server refuses them, with a warning.
    :param mappings: Its mappings.
    :returns: None when it was made; else the kind of error, `resource_already_exists_exception` among them.
    """
    plain = {name: value for name, value in settings.items() if name != "analysis"}
    if plain == settings or _has_analyzer(client, index):
        return _refusal(client, index, plain, mappings)
    refusal = _refusal(client, index, settings, mappings)
    if refusal == "illegal_argument_exception" and (refusal := _refusal(client, index, plain, mappings)) is None:
        text = (
            "the index {index} is made without its analysis, which the server refuses; words are found as it reads them"
        )
        logger.warning(text, index=index)
    return refusal


def _has_analyzer(client: "Elasticsearch", index: str) -> bool:
    """Ask for the index template; where a key may not, or a proxy bars it by a page, there is taken to be none."""
    told = client.options(ignore_status=_MAY_NOT_ASK).indices.simulate_index_template(name=index).body
    made = told.get("template", {}).get("settings", {}).get("index", {}) if isinstance(told, dict) else {}
    return "default" in made.get("analysis", {}).get("analyzer", {})


def _refusal(client: "Elasticsearch", index: str, settings: dict[str, Any], mappings: dict[str, Any]) -> str | None:
    patient = client.options(ignore_status=400, request_timeout=_PATIENCE_S)
    error = patient.indices.create(index=index, settings=settings, mappings=mappings).get("error")
    return str(error.get("type")) if isinstance(error, dict) else None
