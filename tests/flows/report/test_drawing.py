"""Scales, ticks and SVG: places on a plot from literals."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from flows.report import svg
from flows.report.scales import LinearScale, log_scale, second_ticks
from flows.report.scatter import MOST_LABELLED_POINTS, Axis, Point, scatter
from flows.report.timeline import MOST_LABELLED_SPANS, Span, timeline

AXIS = Axis("size", lambda value: f"{value:g}")


def test_log_scale_covers_whole_decades() -> None:
    scale = log_scale([3, 200, 45_000], start=100.0, stop=600.0)
    assert (scale.low, scale.high) == (0, 5)
    assert scale.place(1) == 100
    assert scale.place(100) == 300
    assert scale.place(1e9) == 600
    assert scale.ticks() == [1, 10, 100, 1_000, 10_000, 100_000]
    assert scale.ticks(at_most=3) == [1, 100, 10_000]


def test_log_scale_of_one_value_or_none_is_a_decade() -> None:
    assert (log_scale([10], start=0, stop=1).low, log_scale([10], start=0, stop=1).high) == (1, 2)
    assert log_scale([], start=0, stop=1).high == 1


def test_linear_scale_is_linear() -> None:
    assert LinearScale(10.0, 50.0, 150.0).place(2.5) == 75


@pytest.mark.parametrize(
    ("length", "ticks"),
    [
        (4.3, [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]),
        (75, [0, 10, 20, 30, 40, 50, 60, 70]),
        (1_000, [0, 120, 240, 360, 480, 600, 720, 840, 960]),
        (9, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_ticks_in_seconds_are_round(length: float, ticks: list[float]) -> None:
    assert second_ticks(length) == ticks


def test_elements_escape_attributes_and_content() -> None:
    hostile = '"><script>alert(1)</script>'
    drawn = svg.element("text", hostile, class_=hostile, stroke_width=2.25)
    assert "<script" not in drawn
    node = ElementTree.fromstring(drawn)
    assert (node.text, node.get("class"), node.get("stroke-width")) == (hostile, hostile, "2.2")
    assert svg.element("g") == "<g/>"


def test_scatter_places_points_and_names_them() -> None:
    points = [
        Point(1, 10, "indexed", "a<b"),
        Point(100, 1_000, "failed", "c"),
        Point(0, 5, "indexed", "gone"),
    ]
    drawn = ElementTree.fromstring(scatter(points, title="t", x=AXIS, y=AXIS))
    dots = drawn.findall("circle")
    assert [dot.find("title").text for dot in dots] == ["a<b", "c"]
    assert [dot.get("class") for dot in dots] == ["dot indexed", "dot failed"]
    assert float(dots[0].get("cx")) < float(dots[1].get("cx"))
    assert float(dots[0].get("cy")) > float(dots[1].get("cy"))
    assert drawn.find("title").text == "t: 2 points"


def test_scatter_of_many_points_is_a_path_per_kind_with_failures_on_top() -> None:
    many = [Point(i + 1, i + 1, "indexed", "x") for i in range(MOST_LABELLED_POINTS)]
    drawn = ElementTree.fromstring(scatter([Point(5, 5, "failed", "y"), *many], title="t", x=AXIS, y=AXIS))
    assert drawn.findall("circle") == []
    assert [path.get("class") for path in drawn.findall("path")][-2:] == ["dots indexed", "dots failed"]


def test_guides_stay_inside_the_plot() -> None:
    points = [Point(1, 1, "indexed", ""), Point(1_000, 10, "indexed", "")]
    drawn = scatter(points, title="t", x=AXIS, y=AXIS, guides=[(1.0, "all"), (1e-9, "never")])
    assert ">all</text>" in drawn
    assert "never" not in drawn


def test_nothing_to_plot_is_nothing() -> None:
    assert scatter([], title="t", x=AXIS, y=AXIS) == ""
    assert timeline([], title="t") == ""


def test_timeline_has_a_lane_per_worker_in_order_and_the_main_process_last() -> None:
    spans = [
        Span("main process", 1, 0.1, "stage-publish", "p"),
        Span("worker 10", 0, 1, "stage-index", "a"),
        Span("worker 2", 0, 2, "stage-index", "b"),
    ]
    drawn = ElementTree.fromstring(timeline(spans, title="t"))
    texts = [text.text for text in drawn.findall("text") if text.get("text-anchor") == "end"]
    assert texts[-3:] == ["worker 2", "worker 10", "main process"]
    widths = {bar.find("title").text: float(bar.get("width")) for bar in drawn.findall("rect")}
    assert widths["b"] == pytest.approx(2 * widths["a"], abs=0.2)


def test_timeline_of_many_spans_is_a_path_per_lane_and_stage() -> None:
    spans = [Span(f"worker {i % 2}", i, 1, "stage-index", "x") for i in range(MOST_LABELLED_SPANS + 1)]
    drawn = timeline(spans, title="t")
    assert len(re.findall("<path[^>]*stripe", drawn)) == 2
