"""How many documents a pipeline judges, however many its retrievers are asked for."""

from typing import Any

from haystack import Pipeline

from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner


def told_of_less(pipeline: Pipeline, asked: Any) -> str | None:
    """
    Say where more documents are asked for than a joiner gives on: it bounds what a run costs, whoever asks.

    :param pipeline: A loaded pipeline.
    :param asked: The `top_k` of a run; what is no number is refused elsewhere.
    :returns: What is given in its place, and the way out; None where there is room.
    """
    if not isinstance(asked, int):  # most runs: nothing is to be looked for
        return None
    rooms = [(part.top_k, name) for name, part in pipeline.walk() if isinstance(part, EvidenceJoiner)]
    if not rooms or (least := min(rooms))[0] >= asked:
        return None
    most, name = least
    return (
        f"each retriever is asked for top_k={asked} documents, but {name} gives on {most} of them together; to judge "
        f'more, raise its top_k in the YAML, or by load(..., {name}={{"top_k": {asked}}})'
    )
