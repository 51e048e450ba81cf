"""Connections of urllib3 that are made to hosts on the public internet alone.

The addresses of a host's name are looked at before it is connected to, and the address at the other end
before a byte is sent, so that a name which changes its address in between gains nothing. Every connection
is made here, those of redirects too.
"""

from __future__ import annotations

import socket

import urllib3
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from .allowed_places import is_internal
from .timed_connections import TimedHTTPConnection, TimedHTTPSConnection


class InternalAddressError(Exception):
    """A host is an internal one. No `OSError`, which urllib3 would take for a failed connection."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.host = host


class _CheckedHTTPConnection(TimedHTTPConnection):
    def _new_conn(self) -> socket.socket:
        _check_name(self.host, self.port)
        return _checked(super()._new_conn(), self.host)


class _CheckedHTTPSConnection(TimedHTTPSConnection):
    def _new_conn(self) -> socket.socket:
        _check_name(self.host, self.port)
        return _checked(super()._new_conn(), self.host)


class _CheckedHTTPPool(HTTPConnectionPool):
    ConnectionCls = _CheckedHTTPConnection


class _CheckedHTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _CheckedHTTPSConnection


def refuse_internal(pools: urllib3.PoolManager) -> None:
    """Let a manager of connections make such connections only; it must not have made any yet."""
    pools.pool_classes_by_scheme = {"http": _CheckedHTTPPool, "https": _CheckedHTTPSPool}


def _check_name(host: str, port: int | None) -> None:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return  # connecting says what is wrong with the name
    if any(is_internal(str(address[0])) for *_, address in found):
        raise InternalAddressError(host)


def _checked(connected: socket.socket, host: str) -> socket.socket:
    if is_internal(str(connected.getpeername()[0])):
        connected.close()
        raise InternalAddressError(host)
    return connected
