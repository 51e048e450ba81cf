"""A plot of points on two logarithmic axes, as SVG. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import svg
from .scales import LogScale, log_scale

WIDTH, HEIGHT = 420, 290
LEFT, RIGHT, TOP, BOTTOM = 70, 26, 14, 44
MOST_LABELLED_POINTS = 400
"""Beyond that, points of one class are one path without tips: twelve bytes a point, not a hundred."""


@dataclass(frozen=True)
class Point:
    """One point.

    Attributes
    ----------
    x, y : float
        Positive values.
    kind : str
        Class that colours it.
    label : str
        What a pointer resting on it shows; may be a stranger's text.
    """

    x: float
    y: float
    kind: str
    label: str


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes
    ----------
    title : str
        What it shows.
    form : callable
        How a tick is written.
    """

    title: str
    form: Callable[[float], str]


def scatter(
    points: Sequence[Point], *, title: str, x: Axis, y: Axis, guides: Sequence[tuple[float, str]] = ()
) -> Markup:
    """Draw points on logarithmic axes.

    Parameters
    ----------
    points : sequence of Point
        Those that are not positive in both coordinates are left out.
    title : str
        For those who do not see the plot.
    x, y : Axis
        Title and number format of the axes.
    guides : sequence of (float, str)
        Dashed lines ``y = factor × x`` with a label.

    Returns
    -------
    Markup
        One ``svg`` element; empty when there is nothing to draw.
    """
    points = [point for point in points if point.x > 0 and point.y > 0]
    if not points:
        return Markup("")
    across = log_scale([point.x for point in points], start=LEFT, stop=WIDTH - RIGHT)
    up = log_scale([point.y for point in points], start=HEIGHT - BOTTOM, stop=TOP)
    return svg.element(
        "svg",
        svg.element("title", f"{title}: {len(points)} points"),
        _across(across, x),
        _up(up, y),
        svg.join(_guide(across, up, factor, label) for factor, label in guides),
        _points(points, across, up),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        class_="plot",
    )


def _across(scale: LogScale, axis: Axis) -> Markup:
    bottom = HEIGHT - BOTTOM
    parts = []
    for tick in scale.ticks():
        place = scale.place(tick)
        parts.append(svg.element("path", d=f"M{svg.number(place)} {TOP}V{bottom}", class_="grid"))
        parts.append(svg.element("text", axis.form(tick), x=place, y=bottom + 16, text_anchor="middle"))
    middle = (scale.start + scale.stop) / 2
    title = svg.element("text", axis.title, x=middle, y=HEIGHT - 6, text_anchor="middle", class_="axis")
    return svg.join([*parts, title])


def _up(scale: LogScale, axis: Axis) -> Markup:
    parts = []
    for tick in scale.ticks(at_most=6):
        place = scale.place(tick)
        parts.append(svg.element("path", d=f"M{LEFT} {svg.number(place)}H{WIDTH - RIGHT}", class_="grid"))
        parts.append(svg.element("text", axis.form(tick), x=LEFT - 6, y=place + 4, text_anchor="end"))
    middle = (scale.start + scale.stop) / 2
    turn = f"rotate(-90 11 {svg.number(middle)})"
    title = svg.element(
        "text", axis.title, x=11, y=middle, text_anchor="middle", transform=turn, class_="axis"
    )
    return svg.join([*parts, title])


def _guide(across: LogScale, up: LogScale, factor: float, label: str) -> Markup:
    """Draw ``y = factor × x`` where it crosses the plot; nothing when it does not."""
    shift = math.log10(factor)
    low, high = max(across.low, up.low - shift), min(across.high, up.high - shift)
    if high <= low:
        return Markup("")
    x1, x2 = across.place(10.0**low), across.place(10.0**high)
    y1, y2 = up.place(10.0 ** (low + shift)), up.place(10.0 ** (high + shift))
    line = svg.element(
        "path", d=f"M{svg.number(x1)} {svg.number(y1)}L{svg.number(x2)} {svg.number(y2)}", class_="guide"
    )
    text = svg.element("text", label, x=x2 - 4, y=y2 + 13, text_anchor="end", class_="guide")
    return line + text


def _points(points: Sequence[Point], across: LogScale, up: LogScale) -> Markup:
    if len(points) <= MOST_LABELLED_POINTS:
        return svg.join(
            svg.element(
                "circle",
                svg.element("title", point.label),
                cx=across.place(point.x),
                cy=up.place(point.y),
                r=4,
                class_=f"dot {point.kind}",
            )
            for point in points
        )
    kinds = sorted({point.kind for point in points}, key=_drawing_order)
    return svg.join(_dots(points, kind, across, up) for kind in kinds)


def _drawing_order(kind: str) -> int:
    """Put the rare kinds, which matter more, on top."""
    return {"partial": 1, "failed": 2}.get(kind, 0)


def _dots(points: Sequence[Point], kind: str, across: LogScale, up: LogScale) -> Markup:
    """Draw all points of one class as one path of round line ends."""
    places = dict.fromkeys(
        f"M{svg.number(across.place(point.x))} {svg.number(up.place(point.y))}h0"
        for point in points
        if point.kind == kind
    )
    return svg.element("path", d="".join(places), class_=f"dots {kind}")
