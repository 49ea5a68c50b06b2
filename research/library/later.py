"""Build search indexes beside the requests that change collections, once after many changes.

A search that comes first builds the index itself, or waits for the one that is being built: what
was added is found at once, if after a wait.
"""

from __future__ import annotations

import logging
import threading

from django.db import connections

from research.library.index import load
from research.models.library import Collection

DELAY_S = 3.0
"""How long nothing may have changed before the index is built."""

_timers: dict[int, threading.Timer] = {}
_lock = threading.Lock()


def soon(collection_id: int) -> None:
    """Have the index of a collection built when it has not changed for a moment."""
    with _lock:
        if waiting := _timers.pop(collection_id, None):
            waiting.cancel()
        timer = threading.Timer(DELAY_S, _build, (collection_id,))
        timer.daemon = True
        timer.name = f"index-{collection_id}"
        _timers[collection_id] = timer
        timer.start()


def _build(collection_id: int) -> None:
    with _lock:
        if _timers.get(collection_id) is threading.current_thread():
            del _timers[collection_id]
    try:
        load(Collection.objects.get(pk=collection_id))
    except Collection.DoesNotExist:
        pass
    except Exception:
        # The next search tries again, and tells whoever searches.
        logging.getLogger(__name__).exception("collection %s was not indexed", collection_id)
    finally:
        connections.close_all()
