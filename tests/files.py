"""Files to index that several tests share."""

import json
from pathlib import Path

EMMA = "Emma is a novel by Jane Austen. "


def long_text(topic: str, paragraphs: int = 4) -> str:
    """Several passages: the pipeline splits after 180 words."""
    return "\n\n".join(f"Paragraph {number} is about {topic}. " * 25 for number in range(paragraphs))


def jsonl(path: Path, *records: dict) -> Path:
    """A JSON Lines file."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def record(key: object, text: str = EMMA, **fields: object) -> dict:
    """One record of it."""
    return {"id": str(key), "title": f"Title {key}", "text": text, **fields}
