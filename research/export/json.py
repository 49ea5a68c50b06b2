"""JSON: the log itself, every event as it is stored, and what the run is beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from research.models import Run
from streaming import log
from streaming.models import Blob

PAGE = 500  # events that are read at a time
FORMAT = "soundings.run/1"


def chunks(run: Run) -> Iterator[bytes]:
    """Yield the file in pieces, up to the event that is the last one now. Blocking."""
    head = log.head(run.pk)
    facts = {
        "id": str(run.pk),
        "topic": run.topic,
        "language": run.language,
        "options": run.options,
        "status": run.status,
        "error_code": run.error_code,
        "error_message": run.error_message,
        "created_at": run.created_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "parent": str(run.parent_id) if run.parent_id else None,
        "cursor": head.cursor,
    }
    yield f'{{"format":{_json(FORMAT)},\n"run":{_json(facts)},\n"events":['.encode()
    at = 0
    while at < head.seq:
        records = log.read_after(run.pk, at, min(PAGE, head.seq - at))
        if not records:  # the log was cut back meanwhile
            break
        texts = ",\n".join(record.text for record in records)
        yield f"{',' if at else ''}\n{texts}".encode()
        at = records[-1].seq
    yield b'\n],\n"texts":{'
    hashes = Blob.objects.filter(stream=run.pk).order_by("hash").values_list("hash", flat=True)
    for number, name in enumerate(list(hashes)):
        text = f"{_json(name)}:{_json(log.blob(run.pk, name))}"
        yield f"{',' if number else ''}\n{text}".encode()
    yield b"\n}}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
