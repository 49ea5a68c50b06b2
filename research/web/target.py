"""Addresses of pages: taken apart, made plain, and refused where they are none."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

import idna
from django.conf import settings

from .errors import WebError

MAX_LENGTH = 2000
DEFAULT_PORTS = {"http": 80, "https": 443}
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_KEPT = "%/:=&?~#+!$,;'@()*[]"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a page is: ASCII only, without a fragment."""

    scheme: str
    host: str
    port: int
    path: str
    """With its query, beginning with `/`."""

    @property
    def site(self) -> str:
        """Return host and port as they stand in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the whole address."""
        return f"{self.scheme}://{self.site}{self.path}"

    def join(self, location: str) -> Target:
        """Return the target of a redirect from here."""
        try:
            return target_of(urljoin(self.url, _as_text(location.strip())))
        except ValueError:
            raise WebError("bad_url", "It redirects to what is no address of a page.") from None


def target_of(url: str) -> Target:
    """Return the target that a URL names. Raises `WebError`."""
    url = url.strip()
    if len(url) > MAX_LENGTH:
        raise WebError("bad_url", f"A URL has at most {MAX_LENGTH} characters.")
    if _NOT_IN_URLS.search(url.replace(" ", "")):
        raise WebError("bad_url", "There are characters in this URL that may not be in one.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise WebError("bad_url", "This is not a URL.") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise WebError("bad_url", "Only http:// and https:// can be fetched.")
    if "@" in parts.netloc or " " in parts.netloc:
        raise WebError("bad_url", "A URL must not name a user.")
    if port is None:
        port = DEFAULT_PORTS[parts.scheme]
    if port not in settings.FETCH_PORTS:
        raise WebError("blocked_address", f"Port {port} is not fetched from.")
    path = quote(parts.path or "/", safe=_KEPT)
    if parts.query:
        path += "?" + quote(parts.query, safe=_KEPT)
    target = Target(parts.scheme, _host(parts.hostname or ""), port, path)
    if len(target.url) > MAX_LENGTH:
        raise WebError("bad_url", f"A URL has at most {MAX_LENGTH} characters.")
    return target


def _host(name: str) -> str:
    """Return a host as it is looked up: ASCII, in small letters."""
    if ":" in name:
        try:
            address = ipaddress.IPv6Address(name)
        except ValueError:
            raise WebError("bad_url", "This is no IPv6 address.") from None
        if address.scope_id:
            raise WebError("blocked_address", "An address with a zone is of this network alone.")
        return str(address)
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True, transitional=False).decode()
        except (idna.IDNAError, UnicodeError):
            raise WebError("bad_url", "This is no name of a site.") from None
    name = name.lower().removesuffix(".")
    if not _HOST.fullmatch(name) or ".." in name:
        raise WebError("bad_url", "This is no name of a site.")
    return name


def _as_text(header: str) -> str:
    """Return a header as UTF-8 where it is: some sites send their letters as they are."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header
