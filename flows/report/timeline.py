"""What every worker did when, as SVG. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from shadowzarr.formatting import format_seconds

from . import svg
from .scales import LinearScale, second_ticks

WIDTH = 1000
LEFT, RIGHT, TOP, BOTTOM = 84, 16, 8, 40
LANE, GAP = 26, 6
MOST_LABELLED_SPANS = 600
"""Beyond that, the spans of one stage in one lane are one path without tips."""

OTHER_LANE = "main process"


@dataclass(frozen=True)
class Span:
    """One stage of one asset.

    Attributes
    ----------
    lane : str
        Who did it.
    start, seconds : float
        Since the run began, and how long it took.
    kind : str
        Class that colours it: the stage.
    label : str
        What a pointer resting on it shows; may be a stranger's text.
    """

    lane: str
    start: float
    seconds: float
    kind: str
    label: str


def timeline(spans: Sequence[Span], *, title: str) -> Markup:
    """Draw one lane per worker, from the start of the run to the end of the last stage.

    Returns
    -------
    Markup
        One ``svg`` element; empty when there is nothing to draw.
    """
    if not spans:
        return Markup("")
    lanes = sorted({span.lane for span in spans}, key=_lane_order)
    height = TOP + len(lanes) * (LANE + GAP) + BOTTOM
    length = max(max(span.start + span.seconds for span in spans), 1e-3)
    scale = LinearScale(length, LEFT, WIDTH - RIGHT)
    return svg.element(
        "svg",
        svg.element("title", f"{title}: {len(lanes)} lanes, {format_seconds(length)}"),
        _axis(scale, height),
        svg.join(_lane_label(lane, row) for row, lane in enumerate(lanes)),
        _bars(spans, {lane: row for row, lane in enumerate(lanes)}, scale),
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        class_="plot timeline",
    )


def _lane_order(lane: str) -> tuple[bool, int, str]:
    """Order workers by number, the main process last."""
    digits = "".join(filter(str.isdigit, lane))
    return lane == OTHER_LANE, int(digits or 0), lane


def _axis(scale: LinearScale, height: int) -> Markup:
    bottom = height - BOTTOM
    parts = []
    for tick in second_ticks(scale.length):
        place = scale.place(tick)
        parts.append(svg.element("path", d=f"M{svg.number(place)} {TOP}V{bottom}", class_="grid"))
        parts.append(svg.element("text", _tick(tick), x=place, y=bottom + 16, text_anchor="middle"))
    title = svg.element(
        "text", "since the start of the run", x=WIDTH - RIGHT, y=height - 6, text_anchor="end", class_="axis"
    )
    return svg.join([*parts, title])


def _tick(seconds: float) -> str:
    if seconds == 0:
        return "0"
    if seconds < 60:
        return f"{seconds:g} s"
    return format_seconds(seconds)


def _lane_top(row: int) -> int:
    return TOP + row * (LANE + GAP)


def _lane_label(lane: str, row: int) -> Markup:
    return svg.element("text", lane, x=LEFT - 8, y=_lane_top(row) + LANE / 2 + 4, text_anchor="end")


def _bars(spans: Sequence[Span], rows: dict[str, int], scale: LinearScale) -> Markup:
    if len(spans) <= MOST_LABELLED_SPANS:
        return svg.join(_bar(span, rows[span.lane], scale) for span in spans)
    groups: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        groups.setdefault((span.lane, span.kind), []).append(span)
    return svg.join(_stripe(group, rows[lane], kind, scale) for (lane, kind), group in groups.items())


def _bar(span: Span, row: int, scale: LinearScale) -> Markup:
    start, stop = scale.place(span.start), scale.place(span.start + span.seconds)
    return svg.element(
        "rect",
        svg.element("title", span.label),
        x=start,
        y=_lane_top(row),
        width=max(stop - start, 1.0),
        height=LANE,
        class_=f"bar {span.kind}",
    )


def _stripe(spans: Sequence[Span], row: int, kind: str, scale: LinearScale) -> Markup:
    """Draw all spans of one stage in one lane as one path as thick as the lane."""
    middle = svg.number(_lane_top(row) + LANE / 2)
    pieces: dict[str, None] = {}
    for span in spans:
        width = max(scale.place(span.seconds) - LEFT, 0.5)
        pieces[f"M{svg.number(scale.place(span.start))} {middle}h{svg.number(width)}"] = None
    return svg.element("path", d="".join(pieces), stroke_width=LANE, class_=f"stripe {kind}")
