"""Why an array of a manifest store has no place in references."""

from __future__ import annotations


class NoReferencesError(Exception):
    """It has none; the message is the reason, for people."""
