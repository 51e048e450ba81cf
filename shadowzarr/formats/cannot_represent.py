"""The one exception that generators of every format raise for what has no form in the references."""

from __future__ import annotations


class CannotRepresentError(Exception):
    """An object of the file has no form in the references; the message is the reason.

    It never leaves ``formats``: the caller records it as left out, or raises `UnsupportedError`.
    """
