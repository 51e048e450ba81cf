"""Which places a document may make a reader open: files by their folder, hosts by their address.

The rules alone; they are applied by `load_rfs` when a document is loaded, by `local_reader` when a file is
opened, and by `checked_connections` when a host is connected to.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import RefusedPlaceError, UsageError
from .locations import canonical, is_remote, local_path, without_query

LocalRoots = Iterable[str | os.PathLike[str]]
"""Folders below which files of this machine may be read."""

_AZURE_PLATFORM = ipaddress.ip_address("168.63.129.16")
"""The host of a virtual machine of Azure; the one such address that is not of a private range.
https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16"""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an address of IPv4


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """What a document may name.

    Attributes
    ----------
    document : str or None
        Where the document is; None for one in memory.
    allow_local_files : bool
        Whether a document that came over the network may name files of this machine.
    local_roots : tuple of str or None
        As `real_roots` gives them: files of this machine lie below one of these; None for anywhere.
    """

    document: str | None
    allow_local_files: bool
    local_roots: tuple[str, ...] | None

    def check(self, place: str) -> str:
        """The place itself, if the document may name it.

        Raises
        ------
        RefusedPlaceError
            When it may not; the message says how it is allowed.
        """
        if is_remote(place):
            return place
        if self.document is not None and is_remote(self.document) and not self.allow_local_files:
            raise refused_local(place, self.document)
        if self.local_roots is not None:
            check_root(local_path(place), self.local_roots)
        return place


def refused_local(place: str, document: str) -> RefusedPlaceError:
    """The error for a file of this machine in references that came over the network."""
    return RefusedPlaceError(
        f"{without_query(document)} names the file {without_query(place)} of this machine, which is not read "
        "for references from elsewhere; allow it when you know them (allow_local_files=True, "
        "--allow-local-files)"
    )


def real_roots(local_roots: LocalRoots | None) -> tuple[str, ...] | None:
    """The folders themselves, absolute and with symbolic links followed.

    Raises
    ------
    UsageError
        When one is not a folder's path.
    """
    if local_roots is None:
        return None
    roots = [local_roots] if isinstance(local_roots, str | os.PathLike) else list(local_roots)
    places = [canonical(root) for root in roots]
    for place in places:
        if is_remote(place):
            raise UsageError(f"local_roots are folders of this machine; {without_query(place)} is none")
    return tuple(os.path.realpath(place) for place in places)


def check_root(path: str, roots: tuple[str, ...]) -> str:
    """The file that a path leads to, if it lies below one of the roots.

    Parameters
    ----------
    path : str
        Symbolic links are followed before it is compared.
    roots : tuple of str
        As `real_roots` gives them.

    Raises
    ------
    RefusedPlaceError
        When it lies elsewhere.
    """
    try:
        real = os.path.realpath(path)
    except ValueError as error:  # a NUL in it
        raise RefusedPlaceError(f"{path!r} is no path: {error}") from error
    if not any(is_below(real, root) for root in roots):
        link = "" if real == os.path.normpath(path) else f" (which leads to {real})"
        below = ", ".join(roots) or "no folder"
        raise RefusedPlaceError(
            f"the file {path}{link} may not be read: local_roots allows files below {below} alone"
        )
    return real


def is_below(path: str, root: str) -> bool:
    """Whether a path is a folder, or lies in it; both have no links and no ``..`` in them."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def is_internal(address: str) -> bool:
    """Whether an IP address is of no host on the public internet.

    Parameters
    ----------
    address : str
        As the system gives it; an address of IPv6 may name its interface (``fe80::1%eth0``).

    Returns
    -------
    bool
        True for loopback, private, link-local (metadata services of clouds are there), shared, multicast,
        reserved and unspecified addresses, and for IPv6 forms that carry such an address of IPv4.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip == _AZURE_PLATFORM or not ip.is_global or ip.is_multicast:
        return True
    if isinstance(ip, ipaddress.IPv4Address):
        return False
    carried = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64:
        carried.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return ip.is_site_local or any(each is not None and is_internal(str(each)) for each in carried)
