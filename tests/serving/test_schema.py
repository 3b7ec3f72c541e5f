"""Requests made up from the app's own OpenAPI schema: none ends in a 500."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from serving.conftest import BEARER

_EXAMPLES = 200


# The server answers in a thread of this process; what it draws by chance, Hypothesis takes for a strategy's doing.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
def test_no_request_ends_in_a_server_error(answering: Any) -> None:
    """Right ones and wrong ones, over all routes; and every failure has the form of one."""
    with answering.client() as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    schema.config.update(base_url=answering.url)
    strategies = [
        operation.ok().as_strategy(generation_mode=mode)  # type: ignore[union-attr] # an error raises here
        for operation in schema.get_all_operations()
        for mode in GenerationMode
    ]

    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=st.one_of(strategies))
    def check(case: Any) -> None:
        response = case.call(base_url=answering.url, headers=BEARER)
        assert response.status_code not in (500, 501, 502), (case.operation.label, response.text)
        if response.status_code >= 400:
            assert {"error", "trace_id"} <= set(response.json()), (case.operation.label, response.text)

    check()
