"""Tell indexing pipelines apart by what they make of a file: what another one made is not up to date."""

import hashlib
import json
from pathlib import Path
from typing import Final

from haystack_integrations.crag.pipelines.loader import read

_PASSAGES: Final = 21
"""Raised where this package's own components come to make other passages of the same file."""


def identity_of(pipeline: str | Path) -> str:
    """
    Give a pipeline's identity: of its parts, their settings and connections.

    Not of its embedder, whose settings may name a folder of this machine, nor of its store.

    :param pipeline: Name or file of the pipeline, with components `embedder` and `writer`.
    :returns: Twelve hexadecimal digits.
    """
    spec = read(pipeline)
    parts = {name: part for name, part in spec["components"].items() if name not in ("embedder", "writer")}
    told = json.dumps([_PASSAGES, parts, spec["connections"]], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:12]
