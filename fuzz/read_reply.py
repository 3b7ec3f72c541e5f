"""
Coverage-guided fuzzing of `read_reply`: the reader of text that a model, and so anyone's document, has a say in.

    make fuzz FUZZ_SECONDS=600

What must hold stands in `invariants`. A finding is written as `crash-...`: put it into `corpus/read_reply` once it is
fixed, and the tests keep it fixed.
"""

import sys

import atheris

with atheris.instrument_imports(include=["haystack_integrations.crag.grading.reply", "json_repair", "json"]):
    from invariants import SLOWEST_SECONDS, check

_INSTRUMENTED = 8
"""How many times slower the instrumented reader is, at most; the tests hold the kept corpus to the plain limit."""


def check_one(data: bytes) -> None:
    """Check one input; libFuzzer wants nothing back."""
    check(data, _INSTRUMENTED * SLOWEST_SECONDS)


def main() -> None:
    """Hand libFuzzer its arguments and run until it has had enough."""
    atheris.Setup(sys.argv, check_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
