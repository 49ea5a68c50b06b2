"""The websocket: frames into calls, events into frames.

Plain ASGI applications inside Channels' routing: Channels' own dispatch pays a thread hop for every
message, and all hops of a process share one thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar
from uuid import UUID, uuid4

import msgspec
from django.utils.module_loading import import_string

from . import commands
from .closing import COME_BACK, CloseCode, Closed, Disconnected
from .commands import Answer, Command, Principal, SubscribeSpec
from .conf import conf
from .exceptions import BadRequest, StreamingError
from .flow import SlowConsumer
from .runtime import Runtime, current
from .subscriptions import Subscriptions

logger = logging.getLogger(__name__)

SUBPROTOCOL = "soundings.v1"
FAR_TOO_LARGE = 16
"""How many times the largest message ends the socket at once: where daphne's transport does."""


class Consumer:
    """One socket. Subclasses say who may come in."""

    subprotocol: ClassVar[str] = SUBPROTOCOL

    def __init__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.scope = scope
        self._receive = receive
        self._asgi_send = send
        self._limits = conf()
        self._queue: asyncio.Queue[Command] = asyncio.Queue(self._limits.command_queue)
        self._bad_frames = 0
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    def as_asgi(cls) -> Callable[..., Awaitable[None]]:
        """Return the ASGI application for the routing."""

        async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
            await cls(scope, receive, send).run()

        return application

    async def authenticate(self, runtime: Runtime) -> Principal:
        """Return who asks, or raise `Closed`."""
        raise NotImplementedError

    # --- the life of a socket ------------------------------------------------------------------
    async def run(self) -> None:
        """Serve the socket until either side ends it."""
        if (await self._receive())["type"] != "websocket.connect":
            return
        try:
            await self._accept()
            runtime = current()
            if runtime is None or runtime.stopping.is_set():
                raise Closed(CloseCode.RESTARTING, "restarting", "The server is not ready.")
            await self._serve(runtime, await self.authenticate(runtime))
        except Disconnected:
            pass
        except Closed as closed:
            await self._close(closed)
        except Exception:
            error_id = uuid4().hex[:12]
            logger.exception("socket ended by an error of ours, %s", error_id)
            await self._close(Closed(1011, "internal", f"Something went wrong here ({error_id})."))

    async def _accept(self) -> None:
        offered = self.scope.get("subprotocols") or []
        if offered and SUBPROTOCOL not in offered:
            await self._asgi_send({"type": "websocket.accept"})
            raise Closed(
                CloseCode.NO_SUBPROTOCOL, "no_subprotocol", f"This server speaks {SUBPROTOCOL}."
            )
        accepted = {"type": "websocket.accept"}
        await self._asgi_send({**accepted, "subprotocol": SUBPROTOCOL} if offered else accepted)

    async def _serve(self, runtime: Runtime, principal: Principal) -> None:
        subscriptions = Subscriptions(runtime, principal, self._send, self._end)
        await self._send_json(
            type="hello",
            v=1,
            session=uuid4().hex,
            user=principal.username,
            heartbeat_s=self._limits.heartbeat_s,
            limits={
                "message_bytes": self._limits.message_bytes,
                "event_bytes": self._limits.event_bytes,
                "window_bytes": self._limits.window_bytes,
                "subscriptions": self._limits.subscriptions,
            },
        )
        jobs = [
            self._read(subscriptions),
            self._obey(runtime, principal, subscriptions),
            self._beat(subscriptions),
            self._watch_stop(runtime),
        ]
        tasks = [asyncio.create_task(job) for job in jobs]
        for task in tasks:
            task.add_done_callback(self._task_done)
        with runtime.sessions.seat(
            principal, subscriptions.runs, self._session_ended, subscriptions.hide
        ):
            await self._until_ended(tasks, subscriptions)

    async def _until_ended(
        self, tasks: list[asyncio.Task[None]], subscriptions: Subscriptions
    ) -> None:
        try:
            await self._ended
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await subscriptions.close()

    def _task_done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._end(error)

    def _end(self, error: BaseException) -> None:
        """End the socket because of this; the first reason counts."""
        if isinstance(error, SlowConsumer):
            error = Closed(CloseCode.SLOW, error.code, error.message)
        if not self._ended.done():
            self._ended.set_exception(error)

    def _session_ended(self) -> None:
        self._end(
            Closed(CloseCode.SESSION_ENDED, "session_ended", "You are signed out; sign in again.")
        )

    async def _close(self, closed: Closed) -> None:
        try:
            may_come_back = closed.close_code in COME_BACK
            await self._send_error(None, closed.code, closed.message, retryable=may_come_back)
            await self._asgi_send({"type": "websocket.close", "code": closed.close_code})
        except Exception:  # the other side closed first
            logger.debug("a socket was gone before its close")

    async def _watch_stop(self, runtime: Runtime) -> None:
        await runtime.stopping.wait()
        raise Closed(CloseCode.RESTARTING, "restarting", "The server restarts; come back.")

    async def _beat(self, subscriptions: Subscriptions) -> None:
        while True:
            await asyncio.sleep(self._limits.heartbeat_s)
            await self._send_json(type="heartbeat", heads=subscriptions.heads())

    # --- what comes in -------------------------------------------------------------------------
    async def _read(self, subscriptions: Subscriptions) -> None:
        """Read messages for ever: acknowledgements count at once, commands queue up."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                raise Disconnected
            text = message.get("text")
            try:
                if text is None:
                    raise BadRequest("A message is text.")
                if len(text) > FAR_TOO_LARGE * self._limits.message_bytes:
                    raise Closed(1009, "too_large", "A message is at most 64 KiB long.")
                if len(text.encode()) > self._limits.message_bytes:
                    raise BadRequest("A message is at most 64 KiB long.", code="too_large")
                command = commands.parse(text)
            except BadRequest as error:
                await self._refuse(text or "", error)
                continue
            self._bad_frames = 0
            if isinstance(command, commands.Credit):
                subscriptions.credit(command.sub, command.cursor)
            else:
                assert isinstance(command, Command)
                await self._queue.put(command)

    async def _refuse(self, text: str, error: BadRequest) -> None:
        self._bad_frames += 1
        await self._send_error(commands.message_id(text), error.code, error.message)
        if self._bad_frames >= self._limits.bad_frames:
            raise Closed(CloseCode.MALFORMED, "bad_request", "Too many messages made no sense.")

    async def _obey(
        self, runtime: Runtime, principal: Principal, subscriptions: Subscriptions
    ) -> None:
        """Carry commands out, one after the other."""
        while True:
            command = await self._queue.get()
            try:
                await self._carry_out(command, runtime, principal, subscriptions)
            except StreamingError as error:
                await self._send_error(
                    command.id, error.code, error.message, retryable=error.retryable
                )
            except Exception:
                error_id = uuid4().hex[:12]
                logger.exception("a command failed, %s", error_id)
                await self._send_error(
                    command.id, "internal", f"Something went wrong here ({error_id})."
                )

    async def _carry_out(
        self,
        command: Command,
        runtime: Runtime,
        principal: Principal,
        subscriptions: Subscriptions,
    ) -> None:
        match command:
            case commands.Ping():
                await self._send_json(type="pong", id=command.id)
            case commands.Subscribe():
                principal.require("runs:read")
                answer, go = await subscriptions.subscribe(command.run, command)
                await self._ack(command, answer)
                go()
            case commands.Unsubscribe():
                subscriptions.unsubscribe(command.sub)
                await self._ack(command, Answer({"sub": command.sub}))
            case _:
                await self._carry_out_registered(command, runtime, principal, subscriptions)

    async def _carry_out_registered(
        self,
        command: Any,
        runtime: Runtime,
        principal: Principal,
        subscriptions: Subscriptions,
    ) -> None:
        known = commands.REGISTRY[command.type]
        principal.require(known.scope)
        spec = getattr(command, "subscribe", None)
        if isinstance(spec, SubscribeSpec):
            principal.require("runs:read")
            subscriptions.check_room(spec)  # before something is begun that nobody could follow
        answer = await known.handler(runtime, principal, command)
        if not isinstance(spec, SubscribeSpec):
            await self._ack(command, answer)
            return
        followed, go = await subscriptions.subscribe(UUID(answer.fields["run"]), spec)
        await self._ack(command, Answer({**followed.fields, **answer.fields}))
        go()

    # --- what goes out -------------------------------------------------------------------------
    async def _ack(self, command: Command, answer: Answer) -> None:
        await self._send_json(type="ack", id=command.id, **answer.fields)

    async def _send_error(
        self, id: int | None, code: str, message: str, *, retryable: bool = False
    ) -> None:
        await self._send_json(type="error", id=id, code=code, message=message, retryable=retryable)

    async def _send_json(self, **frame: Any) -> None:
        await self._send(msgspec.json.encode(frame).decode())

    async def _send(self, text: str) -> None:
        try:
            await self._asgi_send({"type": "websocket.send", "text": text})
        except OSError:  # what an ASGI server raises where the client is gone
            raise Disconnected from None


class BrowserConsumer(Consumer):
    """The browser's door: a session, and an Origin that was checked before."""

    async def authenticate(self, runtime: Runtime) -> Principal:
        """Return the user of the session."""
        user = self.scope.get("user")
        if user is None or not user.is_authenticated or not user.is_active:
            raise Closed(CloseCode.NOT_LOGGED_IN, "not_logged_in", "Sign in first.")
        key, stamp = self.scope["session"].session_key, user.get_session_auth_hash()
        return Principal(user.pk, user.get_username(), "session", key=key, stamp=stamp)


class ApiConsumer(Consumer):
    """The programs' door: a token in `Authorization`, and nothing else."""

    async def authenticate(self, runtime: Runtime) -> Principal:
        """Return the user of the token."""
        header = dict(self.scope["headers"]).get(b"authorization", b"").decode("latin-1")
        scheme, _, token = header.partition(" ")
        find = import_string(self._limits.authenticate)
        found: Principal | None = None
        if scheme.lower() == "bearer" and token:
            found = await runtime.readers.run(find, token.strip())
        if found is None:
            raise Closed(CloseCode.NOT_LOGGED_IN, "not_logged_in", "The token is not valid.")
        return found
