"""What a worker process does when the process that started it was killed: nobody else would end it."""

from collections.abc import Callable
from multiprocessing import parent_process
from threading import Thread


def when_parent_ends(end: Callable[[], object]) -> None:
    """
    Watch the process that started this one.

    :param end: Called in a thread once that process is gone; never where this one is no worker.
    """
    parent = parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        end()

    Thread(target=wait, daemon=True, name="crag-parent").start()
