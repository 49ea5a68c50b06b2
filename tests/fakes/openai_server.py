"""A small OpenAI-compatible server on loopback, so that a real client library is what we test.

It plays a leader (asked with an output tool, it calls it), a researcher (offered `search`, it
searches, notes what it found, sums up) and a writer (neither: it writes what the notes say). Each
request is kept; `faults` are answered first, one a request.

    async with FakeOpenAI() as fake:
        # RESEARCH_MODEL=openai-chat:fake  OPENAI_BASE_URL=fake.url  OPENAI_API_KEY=any
"""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

MOST_REQUESTS = 10_000
MARKER = re.compile(r"\[S\d+(?::\d+-\d+)?\]")


@dataclass(frozen=True)
class Fault:
    """What is answered instead: a status, silence, or a stream that breaks off."""

    kind: Literal["status", "hang", "cut"] = "status"
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=lambda: {"error": {"message": "fake"}})


@dataclass(frozen=True)
class Reply:
    """What the model says, and which tools it calls."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class FakeOpenAI:
    """The server; `delay` is in seconds before each piece of a stream."""

    def __init__(self, *, delay: float = 0.0, faults: list[Fault] | None = None) -> None:
        self.delay = delay
        self.faults = faults or []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.open = 0  # connections on which a reply is under way
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Return the base URL for a client."""
        assert self._server
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *failure: object) -> None:
        assert self._server
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            self.open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))))
        assert len(self.requests) < MOST_REQUESTS
        self.requests.append(body)
        self.headers.append(headers)
        fault = self.faults.pop(0) if self.faults else None
        if fault and fault.kind == "status":
            return await _send_json(writer, fault.status, fault.body, fault.headers)
        if fault and fault.kind == "hang":
            await reader.read()  # until the client gives up
            return None
        reply = play(body)
        if not body.get("stream"):
            return await _send_json(writer, 200, _completion(body, reply), {})
        # The client says nothing more after its request: what comes then is that it left.
        leaving = asyncio.create_task(reader.read())
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        )
        chunks = list(_chunks(body, reply))
        for chunk in chunks[: 2 if fault else None]:
            await asyncio.sleep(self.delay)
            if leaving.done():
                return None
            await _send_chunk(writer, f"data: {json.dumps(chunk)}\n\n")
        if not fault:
            await _send_chunk(writer, "data: [DONE]\n\n")
            await _send_chunk(writer, "")
        leaving.cancel()
        return None


def play(body: dict[str, Any]) -> Reply:
    """Return what the model of the role replies that is asked here."""
    tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", [])}
    prompt = "\n".join(_text(m) for m in body["messages"] if m["role"] == "user")
    returned = [_text(m) for m in body["messages"] if m["role"] == "tool"]
    if "search" in tools:
        if not returned:
            return Reply(calls=[("search", {"query": _tag(prompt, "query") or "soundings"})])
        if len(returned) == 1:
            note = {
                "action": "create",
                "title": _tag(prompt, "task"),
                "content": _said(returned[0]),
            }
            return Reply("I write it down.", [("note", note)])
        return Reply(f"In short: {_said(returned[0])}")
    if tools:
        question = _tag(prompt, "question") or prompt
        task = {"title": question[:200], "intent": "What it is.", "query": question[:200]}
        return Reply(calls=[(next(iter(tools)), {"tasks": [task]})])
    return Reply(_tag(prompt, "note") or "The notes hold no answer.")


def _said(passages: str) -> str:
    """Return a claim with the first marker that the search tool showed."""
    marker = MARKER.search(passages)
    if marker is None:
        return "Nothing was found."
    return f"- A passage says what this is {marker[0]}"


def _tag(prompt: str, name: str) -> str:
    match = re.search(rf"<{name}(?: [^>]*)?>([^<]*)</{name}>", prompt)
    return html.unescape(match[1]) if match else ""


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)


def _usage(body: dict[str, Any], reply: Reply) -> dict[str, int]:
    sent, said = len(json.dumps(body["messages"])) // 4, len(reply.text) // 4 + 5
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def _calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "index": n,
            "id": f"call_{n}",  # not unique, as models' ids are not
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for n, (name, args) in enumerate(reply.calls)
    ]


def _completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    reason = "tool_calls" if reply.calls else "stop"
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _usage(body, reply),
    }


def _chunks(body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": "chatcmpl-fake",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in re.findall(r"\s*\S+|\s+", reply.text):
        yield chunk({"content": piece})
    for call in _calls(reply):
        arguments = call["function"]["arguments"]
        start = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield chunk({"tool_calls": [start]})
        for at in range(0, len(arguments), 7):  # in pieces that no JSON parser could use
            part = {"index": call["index"], "function": {"arguments": arguments[at : at + 7]}}
            yield chunk({"tool_calls": [part]})
    yield chunk({}, "tool_calls" if reply.calls else "stop")
    yield {**chunk({}), "choices": [], "usage": _usage(body, reply)}


async def _send_chunk(writer: asyncio.StreamWriter, text: str) -> None:
    data = text.encode()
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))
    await writer.drain()


async def _send_json(
    writer: asyncio.StreamWriter, status: int, body: dict[str, Any], headers: dict[str, str]
) -> None:
    text = json.dumps(body).encode()
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"HTTP/1.1 {status} Fake\r\ncontent-type: application/json\r\n{more}"
        f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
    )
    writer.write(head.encode() + text)
    await writer.drain()
