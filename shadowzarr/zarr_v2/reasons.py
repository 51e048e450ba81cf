"""Why something of Zarr v2 has no form in Zarr v3, or a form of ours none in Zarr v2."""

from __future__ import annotations


class NoV3FormError(Exception):
    """There is none; the message is the reason, for people."""


class NoV2FormError(Exception):
    """There is none; the message is the reason, for people."""
