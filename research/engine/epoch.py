"""A log that may have lost its tail gets a new epoch.

SQLite in WAL mode with `synchronous=NORMAL` survives the death of a process whole, but may lose
its last commits with the power. Another boot id says that the machine was off.
"""

from __future__ import annotations

import logging
from pathlib import Path

from research.models import Run
from streaming.models import Stream, new_epoch

logger = logging.getLogger(__name__)

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def renew_after_power_loss(data_dir: Path) -> None:
    """Give unfinished streams a new epoch where the machine was started since the last time."""
    if not BOOT_ID.exists():
        return
    now, noted = BOOT_ID.read_text().strip(), data_dir / "boot-id"
    before = noted.read_text().strip() if noted.exists() else now
    if before != now:
        unfinished = Stream.objects.filter(pk__in=Run.objects.active().values("pk"))
        for stream in unfinished:
            Stream.objects.filter(pk=stream.pk).update(epoch=new_epoch())
        logger.info("the machine was started since: unfinished logs have new epochs")
    noted.write_text(now)
