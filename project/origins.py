"""Who may open a browser's websocket: our own pages, told by their Origin."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from channels.security.websocket import WebsocketDenier

Application = Callable[..., Awaitable[None]]


class OwnOrigins:
    """Let a handshake pass only with one of the origins, as browsers write them.

    A page of another port is another application, so scheme, host and port are compared as one
    text: nothing that a stranger sends is parsed.
    """

    def __init__(self, application: Application, origins: Iterable[str]) -> None:
        self.application = application
        self.origins = frozenset(origin.encode("latin-1") for origin in origins)
        self.deny: Application = WebsocketDenier.as_asgi()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass the handshake on, or refuse it with 403."""
        given = [value for name, value in scope["headers"] if name == b"origin"]
        allowed = len(given) == 1 and given[0] in self.origins
        await (self.application if allowed else self.deny)(scope, receive, send)
