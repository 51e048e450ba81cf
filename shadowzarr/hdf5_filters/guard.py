"""A filter of ours between HDF5's: it changes nothing, and refuses what a check complains about.

Made with ctypes and known to HDF5 in this process only (``H5Zregister``); no file on disk has it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any

from h5py import h5z

from .checks import Check

_REVERSE = 0x0100
_MOST = 2**40
_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_void_p),
)


class _FilterClass(ctypes.Structure):
    """``H5Z_class2_t``."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("encoder_present", ctypes.c_uint),
        ("decoder_present", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", _CALLBACK),
    )


class Guard:
    """The filter. Its one client data value says which of `checks` it runs when it is undone.

    Used under h5py's lock, by one pipeline at a time.

    Attributes
    ----------
    number : int
        The filter's number in this process.
    checks : sequence of callable
        Those of the pipeline that runs.
    complaint : str
        What was wrong with the last bytes that were refused.
    """

    def __init__(self) -> None:
        self.checks: Sequence[Check] = ()
        self.complaint = ""
        self.number = next(
            n for n in range(511, 255, -1) if not h5z.filter_avail(n)
        )  # HDF5's range for tests
        self._class = _FilterClass(
            1, self.number, 1, 1, b"shadowzarr check", None, None, _CALLBACK(self._run)
        )
        h5z.register_filter(ctypes.addressof(self._class))

    def _run(self, flags: int, count: int, values: Any, nbytes: int, capacity: Any, buffer: Any) -> int:
        if not flags & _REVERSE:
            return nbytes
        self.complaint = "the check failed"  # stays when it raises: ctypes would only print that
        with contextlib.suppress(ArithmeticError, LookupError, TypeError, ValueError, MemoryError):
            self.complaint = self._complaint(self.checks[values[0]], nbytes, buffer)
        return 0 if self.complaint else nbytes

    def _complaint(self, check: Check, nbytes: int, buffer: Any) -> str:
        if nbytes > _MOST:
            return "a filter failed"  # zstd's plug-in returns its negative error as a size
        return check(memoryview((ctypes.c_ubyte * nbytes).from_address(buffer[0])).cast("B"))


_guards: list[Guard] = []


def the_guard() -> Guard:
    """The guard of this process; HDF5 keeps a pointer to it, so it is never freed."""
    if not _guards:
        _guards.append(Guard())
    return _guards[0]
