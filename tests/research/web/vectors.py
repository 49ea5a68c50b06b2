"""A program that asks the guarded client for what it must not fetch, and tells what was reached.

    unshare -n -m python -m tests.research.web.vectors sealed
    python -m tests.research.web.vectors recorded

Sealed, it runs in a network of its own, where private-looking and public-looking addresses are all
its own, names come from its own /etc/hosts, and every packet is seen. Recorded, it runs in any
network: then it is the calls that connect which are seen, and the one allowed address is 127.0.0.2.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from research.web import client, connect, hosts, resolve
from research.web.address import Address
from research.web.errors import WebError
from tests.fakes.web import Asked, FakeWeb, answer

SEALED_PUBLIC = "93.184.216.34"
RECORDED_PUBLIC = "127.0.0.2"
OWN_ADDRESSES = [
    SEALED_PUBLIC, "10.0.0.5", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254",
    "198.18.0.1", "fd00::5", "fe80::1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2001:0:1::1",
]  # fmt: skip
NAMES = {
    "public.test": ["PUBLIC"],
    "private.test": ["127.0.0.1"],
    "mixed.test": ["PUBLIC", "127.0.0.1"],
    "mixed-first.test": ["10.0.0.5", "PUBLIC"],
    "metadata.test": ["169.254.169.254"],
    "six.test": ["::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "rebound.test": ["PUBLIC"],
}
PLAIN = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::1]/",
    "http://[2001:0:1::1]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://10.0.0.5/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00::5]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25lo]/",
    "http://[ff02::1]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://public.test@127.0.0.1/",
    "http://127.0.0.1#@public.test/",
    "http://public.test\\@127.0.0.1/",
    "https://127.0.0.1/",
    "http://private.test/",
    "http://mixed.test/",
    "http://mixed-first.test/",
    "http://metadata.test/latest/meta-data/",
    "http://six.test/",
    "http://mapped.test/",
]
REDIRECTS = [
    "http://127.0.0.1/",
    "//127.0.0.1/",
    "http://private.test/",
    "http://mixed.test/",
    "http://[::1]/",
    "http://10.0.0.5/",
    "http://public.test@10.0.0.5/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/x",
    "javascript:alert(1)",
    "http:\\\\127.0.0.1/",
    "/loop",
    "/hop/1",
]
NOT_FOLLOWED = ["/refresh-header", "/refresh-meta", "/base"]


class Public:
    """The one site that may be fetched from."""

    def __init__(self, web: FakeWeb, host: str) -> None:
        self.web = web
        self.at = "http://public.test" + ("" if web.port == 80 else f":{web.port}")
        web.page("/ok", "fine")
        for number, target in enumerate(REDIRECTS):
            web.redirect(f"/to/{number}", target)
        web.redirect("/loop", "/loop")
        for number in range(1, 12):
            web.redirect(f"/hop/{number}", f"/hop/{number + 1}")
        web.page("/refresh-header", "stay", Refresh="0; url=http://127.0.0.1/")
        web.page("/refresh-meta", '<meta http-equiv="refresh" content="0;url=http://127.0.0.1/">')
        web.page("/base", '<base href="http://127.0.0.1/"><img src="x"><iframe src="/y">')
        web.raw("/keys", self._keys)

    def _keys(self, asked: Asked) -> list[bytes]:
        return [answer(json.dumps(asked.headers).encode())]


class Rebinding:
    """A resolver that answers with a public address once, and with this machine's after that."""

    def __init__(self, public: str, own_names: bool) -> None:
        self.public = public
        self.own_names = own_names
        self.asked: list[str] = []
        self._system = resolve.addresses_of

    def __call__(self, host: str, port: int) -> list[Address]:
        self.asked.append(host)
        if host == "rebound.test" and self.asked.count(host) > 1:
            return [ipaddress.ip_address("127.0.0.1")]
        if host in NAMES and self.own_names:
            names = [self.public if name == "PUBLIC" else name for name in NAMES[host]]
            return [ipaddress.ip_address(name) for name in names]
        return self._system(host, port)


async def ask(url: str) -> str:
    """Return the code with which a URL is refused, or what it answered."""
    try:
        fetched = await client.get(url, total_s=5)
    except WebError as error:
        return error.code
    return fetched.body.decode()


async def ask_all(public: Public, resolver: Rebinding) -> dict[str, Any]:
    """Ask for everything, and return what came of it."""
    results = {url: await ask(url) for url in PLAIN}
    for number, target in enumerate(REDIRECTS):
        results[f"redirect {target}"] = await ask(f"{public.at}/to/{number}")
    stayed = {path: await ask(f"{public.at}{path}") for path in NOT_FOLLOWED}
    rebound = public.at.replace("public.test", "rebound.test")
    lookups = len(resolver.asked)
    first = await ask(f"{rebound}/ok")
    lookups = len(resolver.asked) - lookups
    return {
        "refused": results,
        "stayed": stayed,
        "control": await ask(f"{public.at}/ok"),
        "keys": json.loads(await ask(f"{public.at}/keys")),
        "rebound": [first, lookups, await ask(f"{rebound}/ok")],
    }


@contextmanager
def packets() -> Iterator[list[str]]:
    """Give the addresses that packets of TCP and UDP on the loopback of this network go to."""
    seen: list[str] = []
    ended = threading.Event()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003)) as raw:
        raw.bind(("lo", 0))
        raw.settimeout(0.1)

        def watch() -> None:
            while not ended.is_set():
                try:
                    frame = raw.recv(65_535)
                except TimeoutError:
                    continue
                kind, packet = frame[12:14], frame[14:]
                if kind == b"\x08\x00" and packet[9] in (6, 17):
                    seen.append(str(ipaddress.IPv4Address(packet[16:20])))
                elif kind == b"\x86\xdd" and packet[6] in (6, 17):
                    seen.append(str(ipaddress.IPv6Address(packet[24:40])))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield seen
        finally:
            time.sleep(0.3)
            ended.set()
            thread.join()


@contextmanager
def calls() -> Iterator[list[str]]:
    """Give the addresses that this process asks its system to connect or to send to."""
    seen: list[str] = []
    on = True

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if on and event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            address = args[-1]
            seen.append(str(address[0]) if isinstance(address, tuple) else str(address))

    sys.addaudithook(hook)
    yield seen
    on = False


def seal() -> None:
    """Make this network one where every address is our own, and names come from a file of ours."""
    run = subprocess.run
    run(["ip", "link", "set", "lo", "up"], check=True)
    for address in OWN_ADDRESSES:
        flags = ["nodad"] if ":" in address else []
        length = "128" if ":" in address else "32"
        run(["ip", "addr", "add", f"{address}/{length}", "dev", "lo", *flags], check=True)
    run(["ip", "route", "add", "default", "dev", "lo"], check=True)
    run(["ip", "-6", "route", "add", "default", "dev", "lo"], check=True)
    directory = Path(tempfile.mkdtemp(prefix="sealed-"))
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    for name, addresses in NAMES.items():
        lines += [f"{SEALED_PUBLIC if a == 'PUBLIC' else a} {name}" for a in addresses]
    files = {
        "hosts": "\n".join(lines) + "\n",
        "resolv.conf": "nameserver 10.0.0.5\noptions timeout:1 attempts:1\n",
        "nsswitch.conf": "hosts: files\n",
        "host.conf": "multi on\n",
    }
    for name, text in files.items():
        if not Path("/etc", name).exists():
            continue
        (directory / name).write_text(text)
        run(["mount", "--bind", str(directory / name), f"/etc/{name}"], check=True)


def main(mode: str) -> dict[str, Any]:
    """Ask, and return what came of it and what was reached."""
    sealed = mode == "sealed"
    public = SEALED_PUBLIC if sealed else RECORDED_PUBLIC
    hosts.APART_S = 0.0
    connect.CONNECT_S = 1.0
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        os.environ[name] = "http://10.0.0.5:3128"
    if sealed:
        seal()
    resolver = Rebinding(public, own_names=not sealed)
    resolve.addresses_of = resolver
    with ExitStack() as stack:
        web = stack.enter_context(FakeWeb(address=public, given_port=80 if sealed else 0))
        settings.FETCH_ALLOW_NETWORKS = [] if sealed else [f"{public}/32"]
        settings.FETCH_PORTS = [80, 443, web.port]
        if sealed:  # whoever gets through is answered: nothing fails for want of a listener
            for address in OWN_ADDRESSES:
                if address != public and not address.startswith("fe80"):
                    stack.enter_context(FakeWeb(address=address, given_port=80))
            stack.enter_context(FakeWeb(address="127.0.0.1", given_port=80))
            stack.enter_context(FakeWeb(address="::1", given_port=80))
        with packets() if sealed else calls() as seen:
            results = asyncio.run(ask_all(Public(web, public), resolver))
        reached = sorted(set(seen))
        with packets() if sealed else calls() as seen, socket.socket() as unguarded:
            unguarded.settimeout(0.5)
            unguarded.connect_ex(("10.0.0.5", 80) if sealed else ("127.0.0.1", 1))
        return {**results, "public": public, "reached": reached, "unguarded": sorted(set(seen))}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
