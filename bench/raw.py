"""The limit: a bare asyncio socket that writes lines of the same size, one write an event."""

from __future__ import annotations

import asyncio
import sys

LINE = b"x" * 289 + b"\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    events = int(await reader.readline())
    for number in range(events):
        writer.write(LINE)
        if number % 64 == 0:
            await writer.drain()
    await writer.drain()
    writer.close()


async def main(port: int) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
