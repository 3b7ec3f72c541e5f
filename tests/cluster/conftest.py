"""Three real Elasticsearch nodes, started once when a test of this folder asks for them."""

from collections.abc import Iterator
from typing import Any

import cluster
import kinds
import pytest
from service_fixtures import unavailable


@pytest.fixture(scope="session")
def elasticsearch_cluster() -> Iterator[Any]:
    """The nodes; whoever needs all of them asks for `heal()` first."""
    try:
        started = cluster.start_cluster()
    except kinds.ServiceUnavailable as missing:
        unavailable(f"three Elasticsearch nodes need a JDK 17 and Maven: {missing}")
    with started:
        yield started
