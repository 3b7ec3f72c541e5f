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


def pdf(text: str = "") -> bytes:
    """A PDF of one page, by hand."""
    stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>>>>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(data)
    return data + b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        start,
    )
