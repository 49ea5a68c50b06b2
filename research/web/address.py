"""Which addresses may be connected to: public ones, and the networks that a site allows."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from django.conf import settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# What the IANA registries for special purposes list, whatever a version of Python thinks of it,
# and addresses that clouds answer on though they look public.
_DENIED = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "168.63.129.16/32",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "2001::/23",
            "2001:db8::/32",
            "2002::/16",
            "2620:4f:8000::/48",
            "3fff::/20",
        ),
    )
)
_UNICAST = IPv6Network("2000::/3")  # nothing else is public in IPv6 today
_MAPPED = IPv6Network("::ffff:0:0/96")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # what a network without IPv4 makes of an IPv4 address


def plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for, or the address itself."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def may_connect(address: Address) -> bool:
    """Tell whether a page may be fetched from an address."""
    meant = plain(address)
    if any(meant in network for network in allowed_networks()):
        return True
    if isinstance(meant, IPv6Address) and meant not in _UNICAST:
        return False
    if not meant.is_global or meant.is_multicast or meant.is_reserved:
        return False
    return not any(meant in network for network in _DENIED)


def allowed_networks() -> tuple[Network, ...]:
    """Return the networks that this site allows besides the public ones."""
    return _networks(tuple(settings.FETCH_ALLOW_NETWORKS))


@lru_cache
def _networks(names: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(name, strict=False) for name in names)
