"""Numbers as people read them, in the command, the pipeline and the report: bytes, durations, counts, shares.

Pure functions.
"""

from __future__ import annotations

NO_VALUE = "\u2013"
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def format_bytes(nbytes: float) -> str:
    """Return bytes with a decimal unit and up to three digits: ``1.26 MB``, ``512 B``."""
    value = float(nbytes)
    for unit in _BYTE_UNITS:
        if value < 999.5 or unit == _BYTE_UNITS[-1]:
            break
        value /= 1000
    return f"{_three_digits(value)} {unit}"


def format_seconds(seconds: float) -> str:
    """Return a duration: ``12 ms``, ``3.4 s``, ``1 min 15 s``, ``2 h 5 min``."""
    if 0 < seconds < 0.0005:
        return "< 1 ms"
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def format_share(part: float, whole: float) -> str:
    """Return a part in per cent of the whole; a dash when there is no whole."""
    if whole <= 0:
        return NO_VALUE
    share = 100 * part / whole
    if share >= 10:
        return f"{share:,.0f} %"
    if share >= 0.01 or share == 0:
        return f"{share:.2g} %"
    return "< 0.01 %"


def format_count(number: int, noun: str = "", plural: str = "") -> str:
    """Return a count with separators, and the noun in the right number when one is given."""
    text = f"{number:,}"
    if not noun:
        return text
    return f"{text} {noun if number == 1 else plural or noun + 's'}"


def _three_digits(value: float) -> str:
    if value >= 99.5 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"
