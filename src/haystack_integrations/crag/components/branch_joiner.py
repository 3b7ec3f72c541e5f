"""BranchJoiner: Haystack's own, which stays on the event loop."""

from haystack import component
from haystack.components.joiners import BranchJoiner as HaystackBranchJoiner

from haystack_integrations.crag.light import light


@component
@light
class BranchJoiner(HaystackBranchJoiner):
    """
    Joins branches of a pipeline: what comes from one of them is handed on.

    It passes a value on, and Haystack's own goes to another thread and back for it; a run has four of them.

    ```python
    from haystack_integrations.crag.components.branch_joiner import BranchJoiner

    assert BranchJoiner(str).run(value=["Who wrote Emma?"]) == {"value": "Who wrote Emma?"}
    ```
    """
