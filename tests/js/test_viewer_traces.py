"""Traces and rasters in a browser: what is drawn is what h5py reads, from the chunks in view alone."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pynwb
import pytest
from playwright.sync_api import Page, expect
from pynwb.ecephys import ElectricalSeries
from viewer_pages import View, ViewerPages, viewer_pages

pytestmark = pytest.mark.xdist_group("js")

RECORDING = "acquisition/ElectricalSeries"
POSITION = "processing/behavior/Position/SpatialSeries"
HEADING = "processing/behavior/CompassDirection/HeadDirection"
UNSORTED = 7
"""A unit whose spike times are in no order."""


@pytest.fixture(scope="module")
def pages(viewer: Path, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewerPages]:
    folder = tmp_path_factory.mktemp("traces")
    for name in ("recording.nwb", "behavior.nwb"):
        (folder / name).symlink_to(samples / name)
    _write_scaled(folder / "scaled.nwb")
    with viewer_pages(viewer, folder) as pages:
        for name in ("recording.nwb", "behavior.nwb", "scaled.nwb"):
            pages.index(name)
        yield pages


def _write_scaled(path: Path) -> None:
    """Write a series with factors of its channels in 40 chunks; units in 120 chunks, one in no order."""
    start = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
    nwbfile = pynwb.NWBFile(session_description="scaled", identifier="scaled", session_start_time=start)
    device = nwbfile.create_device("probe")
    group = nwbfile.create_electrode_group("shank", description="one", location="VISp", device=device)
    for electrode in range(3):
        nwbfile.add_electrode(location="VISp", group=group, id=electrode + 10)
    region = nwbfile.create_electrode_table_region([0, 1, 2], "all")
    data = np.cumsum(np.random.default_rng(1).integers(-9, 10, (40_000, 3)), axis=0).astype("<i2")
    nwbfile.add_acquisition(
        ElectricalSeries(
            name="scaled",
            data=pynwb.H5DataIO(data=data, chunks=(1000, 3), compression="gzip"),
            electrodes=region,
            channel_conversion=[1.0, 0.5, -2.0],
            conversion=1e-6,
            offset=0.25,
            starting_time=100.0,
            rate=1000.0,
        )
    )
    times = np.arange(3000) / 10
    times[2500] = 7
    nwbfile.add_acquisition(pynwb.TimeSeries(name="back", data=times * 2, timestamps=times, unit="m"))
    random = np.random.default_rng(2)
    for unit in range(30):
        spikes = random.uniform(0, 1000, 4000)
        nwbfile.add_unit(spike_times=spikes if unit == UNSORTED else np.sort(spikes))
    nwbfile.units["spike_times"].target.set_data_io(
        pynwb.H5DataIO, {"chunks": (1000,), "compression": "gzip"}
    )
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(nwbfile)


def stored(view: View, path: str) -> Any:
    with h5py.File(view.pages.files.folder / view.name) as file:
        return file[path][()]


def columns(times: Any, values: Any, window: dict[str, Any]) -> list[tuple[float, float] | None]:
    """Least and greatest finite value of each column that has samples; None where none is finite."""
    width = (window["to"] - window["from"]) / window["columns"]
    places = np.floor((times - window["from"]) / width).astype(int)
    found = []
    for column in np.unique(places[(places >= 0) & (places < window["columns"])]):
        own = values[places == column]
        own = own[np.isfinite(own)]
        found.append((own.min(), own.max()) if len(own) else None)
    return found


def check_columns(drawn: Any, times: Any, values: Any) -> None:
    """Values of channels, side by side, are those that are drawn, two points a column."""
    assert len(drawn["x"]) <= 2 * drawn["window"]["columns"]
    assert drawn["x"] == sorted(drawn["x"])
    for line, channel in zip(drawn["lines"], drawn["window"]["channels"], strict=True):
        pairs = zip(line[::2], line[1::2], strict=True)
        got = [None if a is None else (min(a, b), max(a, b)) for a, b in pairs]
        wanted = columns(times, values[:, channel], drawn["window"])
        assert [each is None for each in got] == [each is None for each in wanted]
        np.testing.assert_allclose(
            [each for each in got if each], [each for each in wanted if each], rtol=1e-12, atol=0
        )


def enter(page: Page, label: str, value: object) -> None:
    page.get_by_label(label).fill(str(value))
    page.get_by_label(label).press("Enter")


def go(page: Page, start: float, width: float) -> None:
    enter(page, "From", start)
    enter(page, "Width", width)


def test_a_recording_is_drawn_from_the_chunks_in_view(pages, page, screenshots):
    view = pages.open(page, "recording.nwb", RECORDING)
    drawn = view.drawn
    assert drawn["window"]["channels"] == list(range(16))
    assert (drawn["window"]["from"], drawn["window"]["to"]) == (0, 1)
    signal = stored(view, f"{RECORDING}/data") * 0.195e-6
    check_columns(drawn, np.arange(len(signal)) / 30_000, signal)
    data = f"{RECORDING}/data"
    asked = view.requests()
    assert asked == view.chunks(data, *((row, column) for row in range(3) for column in range(2)))
    text = view.says()
    assert "90000 samples of 32 channels, 30000 Hz; unit: volts." in text
    assert "0 to 1 s: least and greatest value for each column of pixels, of all 30000 samples." in text
    kilobytes = sum(length for _, length in asked) / 1000
    assert f"Read for this view: 6 requests, {kilobytes:.1f} kB; last change: 6 requests" in text
    page.screenshot(path=screenshots / "viewer-traces.png", full_page=True)

    plot = page.get_by_role("group", name="Traces of")
    plot.focus()
    for _ in range(6):
        page.keyboard.press("+")
    drawn = view.drawn
    assert drawn["isRaw"]
    start, stop = drawn["rows"]
    np.testing.assert_allclose(np.array(drawn["lines"]).T, signal[start:stop, :16], rtol=1e-12)
    np.testing.assert_allclose(drawn["x"], np.arange(start, stop) / 30_000, rtol=1e-12)
    assert view.requests() == []

    page.keyboard.press("End")
    assert view.drawn["rows"][1] == 90_000
    assert view.requests() == view.chunks(data, (8, 0), (8, 1))
    enter(page, "Channels (of", "30, 16-17")
    drawn = view.drawn
    start, stop = drawn["rows"]
    np.testing.assert_allclose(np.array(drawn["lines"]).T, signal[start:stop, [16, 17, 30]], rtol=1e-12)
    assert view.requests() == view.chunks(data, (8, 2), (8, 3))
    enter(page, "Channels (of", "99")
    assert '"99" is not within 0-31' in view.says()


def test_mouse_and_fingers_move_the_window(pages, page):
    view = pages.open(page, "recording.nwb", RECORDING)
    before = view.drawn["window"]
    box = page.locator(".u-over").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_role("group", name="Traces of").focus()
    page.mouse.move(*middle)
    page.mouse.wheel(0, -100)
    zoomed = view.drawn["window"]
    assert zoomed["to"] - zoomed["from"] == pytest.approx((before["to"] - before["from"]) / 2**0.5)
    page.mouse.down()
    page.mouse.move(middle[0] - box["width"] / 4, middle[1], steps=4)
    page.mouse.up()
    dragged = view.drawn["window"]
    moved = (zoomed["to"] - zoomed["from"]) / 4
    assert dragged["from"] - zoomed["from"] == pytest.approx(moved, rel=0.02)

    pinch = """([x, y, width]) => {
        const plot = document.querySelector(".viewer-plot");
        plot.setPointerCapture = () => {};
        const send = (type, id, x) =>
            plot.dispatchEvent(new PointerEvent(type, { pointerId: id, clientX: x, clientY: y }));
        send("pointerdown", 11, x - width / 8);
        send("pointerdown", 12, x + width / 8);
        send("pointermove", 12, x + 3 * width / 8);
        send("pointerup", 11, 0);
        send("pointerup", 12, 0);
    }"""
    page.evaluate(pinch, [*middle, box["width"]])
    pinched = view.drawn["window"]
    assert pinched["to"] - pinched["from"] == pytest.approx((dragged["to"] - dragged["from"]) / 2)
    page.get_by_role("button", name="All").click()
    assert view.drawn["rows"] == [0, 90_000]


def test_factors_and_offset_of_channels_are_applied(pages, page):
    view = pages.open(page, "scaled.nwb", "acquisition/scaled")
    drawn = view.drawn
    signal = stored(view, "acquisition/scaled/data") * np.array([1.0, 0.5, -2.0]) * 1e-6 + 0.25
    start, stop = drawn["rows"]
    assert (start, drawn["x"][0]) == (0, 100.0)
    np.testing.assert_allclose(np.array(drawn["lines"]).T, signal[start:stop], rtol=1e-12)
    page.get_by_label("Layout").select_option("overlaid")
    page.get_by_text("Values as a table").click()
    heads = page.locator(".viewer-values thead th")
    expect(heads).to_have_text(["Time (s)", *(f"Channel {i} (electrode {i + 10})" for i in range(3))])
    first = page.locator(".viewer-values tbody tr").first.inner_text().split("\t")
    assert first == ["100", *(f"{value * 1000:.6g} mV" for value in signal[0])]


def test_a_long_window_is_sampled_and_says_so(pages, page, screenshots):
    view = pages.open(page, "scaled.nwb", "acquisition/scaled", budget=10 * 6000)
    view.requests()
    page.get_by_role("button", name="All").click()
    drawn = view.drawn
    assert drawn["stretches"] == [10, 40]
    assert len(view.requests()) <= 10
    assert "SAMPLED. Only 10 of 40 stretches were read (10000 of 40000 samples)" in view.says()
    signal = stored(view, "acquisition/scaled/data")[:, 0] * 1e-6 + 0.25
    read = np.concatenate([signal[start : start + 1000] for start in range(0, 40_000, 4000)])
    values = [value for value in drawn["lines"][0] if value is not None]
    np.testing.assert_allclose([min(values), max(values)], [read.min(), read.max()], rtol=1e-12)
    assert sum(value is None for value in drawn["lines"][0]) == 9
    page.screenshot(path=screenshots / "viewer-sampled.png", full_page=True)


@pytest.mark.parametrize(("path", "channels"), [(POSITION, 2), (HEADING, 1)])
def test_timestamps_and_gaps(pages, page, path, channels):
    view = pages.open(page, "behavior.nwb", path)
    page.get_by_role("button", name="All").click()
    drawn = view.drawn
    times = stored(view, f"{POSITION}/timestamps")
    values = stored(view, f"{path}/data").reshape(-1, channels)
    check_columns(drawn, times, values)
    go(page, 200, 2.5)
    drawn = view.drawn
    rows = np.flatnonzero((times >= drawn["window"]["from"]) & (times < drawn["window"]["to"]))
    assert drawn["rows"] == [rows[0] - 1, rows[-1] + 2]
    assert drawn["x"] == list(times[rows[0] - 1 : rows[-1] + 2])
    nearest = np.array([[np.nan if v is None else v for v in line] for line in drawn["lines"]])
    np.testing.assert_array_equal(nearest.T, values[rows[0] - 1 : rows[-1] + 2])


def test_timestamps_that_go_back_are_told_and_not_used(pages, page):
    view = pages.open(page, "scaled.nwb", "acquisition/back")
    page.get_by_role("button", name="All").click()
    text = view.says()
    assert "Samples are numbered: their timestamps go back at row 2500." in text
    assert "0 to 3000 samples: " in text
    drawn = view.drawn
    values = stored(view, "acquisition/back/data")[:, None]
    assert drawn["rows"] == [0, 3000]
    check_columns(drawn, np.arange(3000), values)


def test_values_are_read_out_at_a_cursor_that_keys_move(pages, page):
    view = pages.open(page, "scaled.nwb", "acquisition/scaled")
    page.get_by_role("group", name="Traces of").focus()
    for _ in range(3):
        page.keyboard.press(".")
    signal = stored(view, "acquisition/scaled/data")[3] * np.array([1.0, 0.5, -2.0]) * 1e-6 + 0.25
    text = page.locator(".viewer-readout").inner_text()
    assert text.startswith("At 100.003 s: 0 (electrode 10): ")
    drawn = view.drawn
    assert [line[3] for line in drawn["lines"]] == pytest.approx(list(signal))


def test_a_raster_is_drawn_from_the_spikes_in_view(pages, page, screenshots):
    view = pages.open(page, "recording.nwb", "units")
    drawn = view.drawn
    times, ends = stored(view, "units/spike_times"), stored(view, "units/spike_times_index")
    units = np.split(times, ends[:-1].astype(int))
    assert drawn["units"] == list(range(12))
    assert drawn["times"] == [list(unit) for unit in units]
    page.screenshot(path=screenshots / "viewer-raster.png", full_page=True)
    go(page, 1, 0.5)
    assert view.drawn["times"] == [list(unit[(unit >= 1) & (unit <= 1.5)]) for unit in units]


def test_of_many_spikes_only_those_around_the_window_are_read(pages, page):
    view = pages.open(page, "scaled.nwb", "units", "raster")
    times, ends = stored(view, "units/spike_times"), stored(view, "units/spike_times_index")
    units = np.split(times, ends[:-1].astype(int))
    view.requests()
    enter(page, "Rows of units", "25-26")
    go(page, 400, 20)
    drawn = view.drawn
    assert drawn["times"] == [list(unit[(unit >= 400) & (unit <= 420)]) for unit in units[25:27]]
    everything = view.chunks("units/spike_times", *((chunk,) for chunk in range(100, 108)))
    first, last = everything[0][0], sum(everything[-1])
    assert all(first <= offset and offset + length <= last for offset, length in view.requests())
    enter(page, "Rows of units", UNSORTED)
    assert view.drawn["times"] == [sorted(t for t in units[UNSORTED] if 400 <= t <= 420)]
    assert f"Spike times of {UNSORTED} are in no order in the file" in view.says()
