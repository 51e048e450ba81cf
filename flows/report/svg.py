"""SVG as safe text: elements whose attributes and content are escaped. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from .safe_text import safe_text


def element(name: str, *content: str, **attributes: object) -> Markup:
    """Return one element.

    Parameters
    ----------
    name : str
        Its name, ours and never a stranger's.
    *content : str
        Text, escaped unless it is `Markup`.
    **attributes : object
        ``stroke_width`` becomes ``stroke-width``, ``class_`` becomes ``class``; numbers are shortened.
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value is not None
    )
    if not content:
        return Markup("<{}{}/>").format(name, written)
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, Markup("").join(map(_content, content)))


def join(parts: Iterable[Markup]) -> Markup:
    """Return elements one after another."""
    return Markup("").join(parts)


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def _value(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    return str(value) if isinstance(value, int) else safe_text(str(value))


def _content(content: str) -> Markup:
    return content if isinstance(content, Markup) else escape(safe_text(content))
