"""Read what the environment says, and make the databases, layers and keys that it means.

A reader that raises `ValueError` does so with a sentence for the person; `project.checks` shows it.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SQLITE_INIT = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
POSTGRES_WAITS = "-c lock_timeout=2s -c idle_in_transaction_session_timeout=10s"
DEFAULT_PORTS = {"http": 80, "https": 443}
MIN_KEY = 50
KEY_FILE = "secret_key"


def words(text: str) -> list[str]:
    """Return the parts of a list that is separated by commas or spaces."""
    return text.replace(",", " ").split()


def flag(text: str) -> bool:
    """Return whether the text says yes."""
    return text.strip().lower() in {"1", "true", "yes", "on"}


def distinct(*texts: str | None) -> list[str]:
    """Return the texts that say something, each once, in their order."""
    return list(dict.fromkeys(text for text in texts if text))


def data_dir(path: Path) -> Path:
    """Return the data directory, made for its owner only where it did not exist."""
    with suppress(OSError):  # the check tells
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def port(text: str) -> int:
    """Return a TCP port; none means 8000."""
    number = int(text) if text.isdecimal() and len(text) < 6 else 0 if text else 8000
    if not 0 < number < 65536:
        raise ImproperlyConfigured("PORT must be a number from 1 to 65535.")
    return number


def networks(name: str, text: str) -> list[str]:
    """Return networks such as 10.1.0.0/16, separated by commas or spaces."""
    found = words(text)
    for network in found:
        try:
            ip_network(network, strict=False)
        except ValueError:
            raise ImproperlyConfigured(f"{name}: {network} is not a network.") from None
    return found


def count(name: str, text: str, default: int, most: int) -> int:
    """Return a number from 1 to `most`; none means the default."""
    found = numbers(name, text, [default], most)
    if len(found) > 1:
        raise ImproperlyConfigured(f"{name} must be one number.")
    return found[0]


def numbers(name: str, text: str, default: list[int], most: int) -> list[int]:
    """Return numbers from 1 to `most`, separated by commas or spaces; none means the default."""
    found = [int(word) if word.isdecimal() and len(word) < 8 else 0 for word in words(text)]
    if not all(0 < number <= most for number in found):
        raise ImproperlyConfigured(f"{name} must hold numbers from 1 to {most}.")
    return found or default


def database(url: str, data_dir: Path) -> dict[str, Any]:
    """Return Django's settings of the database at a URL; none means a SQLite file."""
    if not url:
        return _sqlite(data_dir / "soundings.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        if parts.netloc or len(parts.path) < 2:
            raise ValueError("DATABASE_URL: write sqlite:////absolute/path or sqlite:///relative.")
        return _sqlite(Path(unquote(parts.path[1:])))
    if parts.scheme in {"postgres", "postgresql"}:
        return _postgres(url)
    raise ValueError("DATABASE_URL must begin with postgres:// or sqlite:/// (or be empty).")


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            "timeout": 20,
            # A transaction that begins by reading and then writes would fail at once, not wait.
            "transaction_mode": "IMMEDIATE",
            "init_command": SQLITE_INIT,
        },
    }


def _postgres(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    name = unquote(parts.path[1:])
    try:
        port = parts.port
    except ValueError:
        raise ValueError("DATABASE_URL has a port that is no number.") from None
    options: dict[str, Any] = {"connect_timeout": 5, **dict(parse_qsl(parts.query))}
    # A `host` in the query names the directory of a Unix socket, as libpq has it.
    host = options.pop("host", "") or unquote(parts.hostname or "")
    if not name:
        raise ValueError("DATABASE_URL names no database (postgres://user:key@host/NAME).")
    options["options"] = f"{options.get('options', '')} {POSTGRES_WAITS}".strip()
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def channel_layer(url: str) -> dict[str, Any]:
    """Return the settings of the channel layer at a URL; none means this process alone."""
    if not url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ValueError("REDIS_URL must begin with redis://, rediss:// or unix:// (or be empty).")
    return {
        # Of the two Redis layers, only this one comes back by itself after a restart of Redis.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # redis-py 8 gives up after 5 s of silence by default; a quiet run is longer silent.
        "CONFIG": {"hosts": [{"address": url, "socket_timeout": None}]},
    }


def origin(url: str) -> str:
    """Return `scheme://host[:port]` of an address, written as browsers write it, or nothing."""
    if not url:
        return ""
    wrong = "PUBLIC_URL must look like https://research.example.org, without a path."
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()
        port = parts.port
    except ValueError:
        raise ValueError(wrong) from None
    if parts.scheme not in DEFAULT_PORTS or not host or parts.path.strip("/") or parts.username:
        raise ValueError(wrong)
    tail = f":{port}" if port not in (None, DEFAULT_PORTS[parts.scheme]) else ""
    return f"{parts.scheme}://{bracketed(host)}{tail}"


def origins(hosts: list[str], port: int) -> list[str]:
    """Return the origins of pages that are served over http to this machine or its network."""
    found = []
    for host in hosts:
        with suppress(ValueError):  # a pattern such as .example.org is no address
            found.append(origin(f"http://{host}:{port}"))
    return found


def host_of(url: str) -> str:
    """Return the host in an origin, as ALLOWED_HOSTS writes it."""
    return bracketed(urlsplit(url).hostname or "")


def bracketed(host: str) -> str:
    """Return the host as it stands in a URL: an IPv6 address is in brackets there."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def secret_key(data_dir: Path) -> str:
    """Return the key kept in the data directory; the first call makes it, for its owner only."""
    path = data_dir / KEY_FILE
    try:
        # Written beside and linked into place: of two first starts, both read the same whole key.
        fresh = path.with_name(f".{KEY_FILE}.{secrets.token_hex(4)}")
        if not path.exists():
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(64))
            with suppress(FileExistsError):
                os.link(fresh, path)
            fresh.unlink()
        return path.read_text().strip()
    except OSError:
        # The check of DATA_DIR tells why; until then nothing that was signed should be guessable.
        return secrets.token_urlsafe(64)
