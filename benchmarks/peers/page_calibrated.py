"""What the page of the comparison says of calibrations: on which questions, how many, and how they did held out."""

from collections.abc import Mapping
from typing import Any

from page_figures import Held
from page_pictures import Block
from page_texts import CALIBRATED_SAID
from systems import SYSTEMS


def calibrations(held: Held) -> list[Block]:
    """
    Tell how what is calibrated was calibrated.

    :param held: What the result files hold.
    :returns: How, and a row for each set; parts whose calibrations are the same share it.
    """
    names = [name for name, system in SYSTEMS.items() if system.calibrated]
    parts: dict[tuple[str, ...], list[str]] = {}
    for part, one in held.parts.items():
        for name in names:
            for dataset, told in one["systems"].get(name, {}).get("calibrations", {}).items():
                parts.setdefault((held.labels[name], dataset, *_cells(told)), []).append(part)
    rows = [["system", "set", *_HEADS, "parts"], *([*row, ", ".join(ran)] for row, ran in parts.items())]
    return [
        ("h3", "What was calibrated, and on which questions"),
        ("p", CALIBRATED_SAID),
        ("table", rows) if parts else ("p", "No part was run with it."),
    ]


_HEADS = (
    "questions kept apart",
    "calibrated on",
    "of these correct, ambiguous, incorrect",
    "held out: macro-F1 (95 %)",
)


def _cells(told: Mapping[str, Any]) -> tuple[str, ...]:
    if "refused" in told:
        return str(told["apart"]), str(told["questions"]), "refused", told["refused"].split(":")[0]
    labels = [str(told["labels"].get(name, 0)) for name in ("correct", "ambiguous", "incorrect")]
    f1 = "{value:.2f} ({low:.2f} to {high:.2f})".format_map(told["held_out_f1"])
    return str(told["apart"]), str(told["questions"]), ", ".join(labels), f1
