"""What an engine is: it carries work whose rows say that it is due."""

from __future__ import annotations

from typing import Protocol


class Engine(Protocol):
    """Carries queued work, and cancels what is to be cancelled."""

    async def start(self) -> None:
        """Begin: take over what a dead process left, then look for work."""

    async def stop(self) -> None:
        """End; work that is under way is taken over by whoever comes next."""

    @property
    def leading(self) -> bool:
        """Tell whether this process is the one that carries work."""
