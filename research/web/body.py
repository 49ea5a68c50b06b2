"""Bodies: read piece by piece, unpacked piece by piece, and never further than their limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

from .errors import WebError

ENCODINGS = "gzip, deflate"
_PIECE = 1 << 16


class Unpacker:
    """Unpacks one `Content-Encoding`, in pieces that stay small however much they unpack to."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._inflate = zlib.decompressobj(47 if encoding == "gzip" else zlib.MAX_WBITS)
        self._begun = False

    def feed(self, data: bytes, most: int) -> bytes:
        """Return what a piece unpacks to, as far as one byte beyond `most`."""
        if not self._begun and data:
            self._begun = True
            if self._encoding == "deflate" and data[0] & 0x0F != 8:  # without the frame it has
                self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        out = bytearray()
        try:
            while data and not self._inflate.eof and len(out) <= most:
                out += self._inflate.decompress(data, min(_PIECE, most + 1))
                data = self._inflate.unconsumed_tail
        except zlib.error:
            raise WebError("bad_answer", "What the site sent cannot be unpacked.") from None
        return bytes(out)


def unpacker(encoding: str) -> Unpacker | None:
    """Return what unpacks an encoding, None where nothing is packed. Raises `WebError`."""
    names = [name for part in encoding.lower().split(",") if (name := part.strip())]
    match [name for name in names if name != "identity"]:
        case []:
            return None
        case ["gzip" | "x-gzip"]:
            return Unpacker("gzip")
        case ["deflate"]:
            return Unpacker("deflate")
    raise WebError("bad_answer", "The site sent the page packed in a way that is not read.")


async def read(pieces: AsyncIterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """Return a whole body, unpacked. Raises `WebError` as soon as it is longer than `max_bytes`."""
    unpack = unpacker(encoding)
    body = bytearray()
    received = 0
    async for piece in pieces:
        received += len(piece)
        body += unpack.feed(piece, max_bytes - len(body)) if unpack else piece
        if len(body) > max_bytes or received > max_bytes:
            raise too_large(max_bytes)
    return bytes(body)


def too_large(max_bytes: int) -> WebError:
    """Return the error for what is longer than is read."""
    return WebError("too_large", f"It is larger than {max_bytes / 1_000_000:.0f} MB.")
