"""Tables and images in a browser: cells and pixels are those of the file; what cannot be shown is told."""

import datetime
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pynwb
import pytest
from chromium import opened
from hdmf.common import DynamicTable, VectorData
from playwright.sync_api import Browser, Page
from pynwb.base import Images
from pynwb.image import ImageSeries, RGBImage
from viewer_pages import View, ViewerPages, viewer_pages

from shadowzarr.testing import Fault, RangeServer

pytestmark = pytest.mark.xdist_group("js")

FRAMES = "acquisition/TwoPhotonSeries"
ROWS = 25_000
MARKUP = "<img src=x onerror=alert(1)><b>bold</b>"


@pytest.fixture(scope="module")
def pages(viewer: Path, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewerPages]:
    folder = tmp_path_factory.mktemp("tables")
    for name in ("recording.nwb", "imaging.nwb"):
        (folder / name).symlink_to(samples / name)
    _write_others(folder / "others.nwb")
    with viewer_pages(viewer, folder) as pages:
        for name in ("recording.nwb", "imaging.nwb", "others.nwb"):
            pages.index(name)
        yield pages


def _write_others(path: Path) -> None:
    """Write colours, a single image, and a table of many rows whose text is markup."""
    start = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
    nwbfile = pynwb.NWBFile(session_description="others", identifier="others", session_start_time=start)
    random = np.random.default_rng(5)
    video = random.integers(0, 256, (6, 20, 30, 3), dtype="u1")
    video = pynwb.H5DataIO(data=video, chunks=(1, 20, 30, 3), compression="gzip")
    nwbfile.add_acquisition(ImageSeries(name="video", data=video, unit="n.a.", rate=25.0))
    picture = random.integers(0, 256, (12, 9, 3), dtype="u1")
    nwbfile.add_acquisition(
        Images(name="pictures", images=[RGBImage(name="picture", data=picture)], description="one")
    )
    numbers = pynwb.H5DataIO(data=random.normal(size=ROWS), chunks=(10_000,), compression="gzip")
    texts = [MARKUP] * 30 + ["plain"] * (ROWS - 30)
    columns = [
        VectorData(name="number", description="noise", data=numbers),
        VectorData(name="text", description=MARKUP, data=texts),
    ]
    table = DynamicTable(name="many", description="many rows", columns=columns)
    nwbfile.add_scratch(table)
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(nwbfile)


def stored(view: View, path: str) -> Any:
    with h5py.File(view.pages.files.folder / view.name) as file:
        return file[path][()]


def enter(page: Page, label: str, value: object) -> None:
    page.get_by_label(label, exact=True).fill(str(value))
    page.get_by_label(label, exact=True).press("Enter")


def grey(frame: Any, low: float, high: float) -> Any:
    """What is painted of a frame, its first axis across: rounded as a canvas rounds, halves to even."""
    return np.rint(np.clip((frame.T - low) * (255 / (high - low)), 0, 255)).astype(int)


def painted(drawn: Any) -> Any:
    """Pixels that are drawn: rows, columns, and red, green, blue, opacity."""
    return np.array(drawn["pixels"]).reshape(drawn["height"], drawn["width"], 4)


def test_frames_are_drawn_from_their_chunks(pages, page, screenshots):
    view = pages.open(page, "imaging.nwb", FRAMES)
    movie = stored(view, f"{FRAMES}/data").astype(float)
    drawn = view.drawn
    assert (drawn["low"], drawn["high"]) == (movie[0].min(), movie[0].max())
    pixels = painted(drawn)
    assert np.array_equal(pixels[..., 0], grey(movie[0], drawn["low"], drawn["high"]))
    assert (pixels[..., 3] == 255).all()
    assert view.requests() == view.chunks(f"{FRAMES}/data", (0, 0, 0))
    page.screenshot(path=screenshots / "viewer-images.png", full_page=True)

    page.get_by_label("Frame", exact=True).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    drawn = view.drawn
    assert drawn["frame"] == 3
    assert np.array_equal(painted(drawn)[..., 0], grey(movie[3], drawn["low"], drawn["high"]))
    assert view.requests() == []
    enter(page, "Number", 125)
    assert view.drawn["frame"] == 125
    assert view.requests() == view.chunks(f"{FRAMES}/data", (6, 0, 0))
    assert f"Frame 125 (of 0-239), {125 / 30:.9g} s: stored values" in view.says()

    page.get_by_label("Contrast", exact=True).select_option("fixed")
    enter(page, "Black", 200)
    enter(page, "White", 900)
    page.get_by_role("button", name="Next").click()
    assert np.array_equal(painted(view.drawn)[..., 0], grey(movie[126], 200, 900))
    page.get_by_label("First axis", exact=True).select_option("down")
    assert np.array_equal(painted(view.drawn)[..., 0], grey(movie[126].T, 200, 900))
    page.locator("canvas").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator(".viewer-readout").inner_text() == f"Pixel 2 across, 1 down: {movie[126, 1, 2]:.0f}"


def test_frames_that_are_passed_over_are_not_read(pages, page):
    view = pages.open(page, "others.nwb", "acquisition/video")
    view.requests()
    page.get_by_label("Frame", exact=True).focus()
    page.keyboard.press("End")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    frame = view.drawn["frame"]
    assert frame == 3
    last = view.chunks("acquisition/video/data", (3, 0, 0, 0))
    assert set(last) <= set(view.requests())


def test_colours(pages, page):
    view = pages.open(page, "others.nwb", "acquisition/video")
    movie = stored(view, "acquisition/video/data")
    drawn = view.drawn
    assert (drawn["width"], drawn["height"]) == (20, 30)
    assert np.array_equal(painted(drawn)[..., :3], movie[0].transpose(1, 0, 2))
    view = pages.open(page, "others.nwb", "acquisition/pictures/picture")
    picture = stored(view, "acquisition/pictures/picture")
    page.get_by_label("First axis", exact=True).select_option("down")
    assert np.array_equal(painted(view.drawn)[..., :3], picture)
    assert page.get_by_label("Frame", exact=True).count() == 0


def test_tables_have_the_cells_of_the_file(pages, page, screenshots):
    with pynwb.NWBHDF5IO(pages.files.folder / "recording.nwb", "r") as io:
        nwbfile = io.read()
        tables = {
            "units": nwbfile.units.to_dataframe(),
            "intervals/trials": nwbfile.trials.to_dataframe(),
            "general/extracellular_ephys/electrodes": nwbfile.electrodes.to_dataframe(),
        }
        for path, frame in tables.items():
            view = pages.open(page, "recording.nwb", path, "table")
            drawn = view.drawn
            assert drawn["heads"] == ["row", "id", *frame.columns]
            assert len(drawn["rows"]) == min(25, len(frame))
            for row, (identifier, values) in zip(drawn["rows"], frame.iterrows(), strict=False):
                assert row[1] == str(identifier)
                for name, cell in zip(frame.columns, row[2:], strict=True):
                    check_cell(cell, values[name])
            page.screenshot(path=screenshots / f"viewer-table-{path.split('/')[-1]}.png", full_page=True)


def check_cell(cell: str, value: Any) -> None:
    """A cell says what pynwb has."""
    if isinstance(value, bool | np.bool_):
        assert cell == str(value).lower()
    elif isinstance(value, str):
        assert cell == value
    elif isinstance(value, int | float | np.number):
        assert cell == "NaN" if np.isnan(value) else float(cell) == pytest.approx(float(value), rel=1e-8)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        numbers = [float(each) for each in re.findall(r"-?\d\S*?(?=[,\]])", cell.split(": ")[-1])]
        shown = (
            value.reshape(-1)[: len(numbers)] if value.ndim == 1 else value.reshape(-1, value.shape[-1])[0]
        )
        np.testing.assert_allclose(numbers, shown[: len(numbers)], rtol=1e-8)
        assert len(numbers) == min(6, len(shown))
    else:
        assert cell  # references, which the tests in Node look at


def test_only_the_rows_in_view_are_read_and_markup_is_text(pages, page):
    view = pages.open(page, "others.nwb", "scratch/many")
    path = "scratch/many/number"
    drawn = view.drawn
    numbers = stored(view, path)
    assert drawn["rows"][7] == ["7", "7", f"{numbers[7]:.9g}", MARKUP]
    assert page.locator("main img").count() == 0
    assert page.locator("main b").count() == 0
    asked = view.requests()
    assert view.chunks(path, (0,))[0] in asked
    assert not set(view.chunks(path, (1,), (2,))) & set(asked)
    page.get_by_role("button", name="Next").click()
    assert view.drawn["first"] == 25
    assert view.requests() == []
    enter(page, "From row", 19_990)
    drawn = view.drawn
    assert [float(row[2]) for row in drawn["rows"]] == pytest.approx(list(numbers[19_990:20_015]), rel=1e-8)
    assert view.requests() == view.chunks(path, (1,), (2,))
    enter(page, "From row", 999_999)
    assert view.drawn["rows"] == [["24999", "24999", f"{numbers[-1]:.9g}", "plain"]]


def refused(browser: Browser, pages: ViewerPages, name: str, path: str) -> str:
    """What a page says when a server refuses, of which the console complains too."""
    with browser.new_context() as context:
        return pages.open(context.new_page(), name, path).says()


def test_a_changed_file_is_not_shown(pages, browser):
    folder = pages.files.folder
    shutil.copy(folder / "imaging.nwb", folder / "changed.nwb")
    pages.index("changed.nwb")
    with h5py.File(folder / "changed.nwb", "r+") as file:
        file["acquisition"].attrs["more"] = "x" * 5000
    text = refused(browser, pages, "changed.nwb", FRAMES)
    assert "SourceChangedError" in text
    assert "has to index it again" in text


def test_nothing_is_left_on_the_screen_of_what_cannot_be_read(pages, browser):
    with browser.new_context() as context:
        page = context.new_page()
        view = pages.open(page, "imaging.nwb", FRAMES)
        assert view.drawn["frame"] == 0
        pages.files.faults.add(Fault(path="imaging.nwb", status=403, times=1))
        enter(page, "Number", 100)
        assert "Cannot be shown." in view.says()
        canvas = "document.querySelector('canvas').getContext('2d')"
        assert page.evaluate(f"() => {canvas}.getImageData(0, 0, 9, 9).data.every((value) => value === 0)")
        enter(page, "Number", 101)
        assert view.drawn["frame"] == 101
        assert "Cannot be shown." not in view.says()


def test_large_chunks_are_read_on_request_only(pages, page):
    rfs = json.loads(pages.references("imaging.nwb").read_text())
    key = f"{FRAMES}/data/zarr.json"
    metadata = json.loads(rfs["refs"][key])
    metadata["chunk_grid"]["configuration"]["chunk_shape"] = [2100, 128, 128]
    rfs["refs"] = {k: v for k, v in rfs["refs"].items() if not k.startswith(f"{FRAMES}/data/c/")}
    rfs["refs"][key] = json.dumps(metadata)
    pages.references("large.nwb").write_text(json.dumps(rfs))
    view = pages.open(page, "large.nwb", FRAMES)
    assert "The chunks that a frame lies in take up to 68.8 MB." in view.says()
    assert view.drawn is None
    page.get_by_role("button", name="Read it").click()
    assert view.drawn["frame"] == 0
    assert "take up to" not in view.says()


def test_a_codec_that_is_not_there_is_named(pages, page):
    rfs = json.loads(pages.references("imaging.nwb").read_text())
    metadata = json.loads(rfs["refs"][f"{FRAMES}/data/zarr.json"])
    metadata["codecs"].append({"name": "imagecodecs_other", "configuration": {}})
    rfs["refs"][f"{FRAMES}/data/zarr.json"] = json.dumps(metadata)
    pages.references("other.nwb").write_text(json.dumps(rfs))
    text = pages.open(page, "other.nwb", FRAMES).says()
    assert "UnsupportedError" in text
    assert "imagecodecs_other" in text
    assert "Read it in Python" in text


def test_a_server_that_pages_may_not_read_from_is_told(pages, browser, tmp_path):
    shutil.copy(pages.files.folder / "imaging.nwb", tmp_path)
    with RangeServer(tmp_path, cross_origin=None) as closed:
        text = pages.references("imaging.nwb").read_text()
        pages.references("closed.nwb").write_text(
            text.replace(pages.files.url("imaging"), closed.url("imaging"))
        )
        shown = refused(browser, pages, "closed.nwb", FRAMES)
    assert "Access-Control-Allow-Origin" in shown


def test_a_node_that_is_none_is_told(pages, page):
    assert (
        "nothing of /acquisition/none can be drawn"
        in pages.open(page, "imaging.nwb", "acquisition/none").says()
    )


def test_a_viewer_that_is_closed_leaves_nothing(pages, page):
    pages.open(page, "imaging.nwb", FRAMES)
    page.evaluate("viewer.destroy()")
    assert page.inner_html("main") == ""
    page.evaluate("viewer.destroy()")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_used_by_all_in_either_scheme(
    pages, browser, package, screenshots, scheme
):
    axe = (package / "node_modules" / "axe-core" / "axe.min.js").read_text()
    phone = {"width": 360, "height": 740}
    views = [("recording.nwb", "acquisition/ElectricalSeries", "traces"), ("imaging.nwb", FRAMES, "images")]
    views += [("recording.nwb", "units", "raster"), ("recording.nwb", "units", "table")]
    with opened(browser, viewport=phone, color_scheme=scheme, has_touch=True) as page:
        for name, path, kind in views:
            pages.open(page, name, path, kind).says()
            assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
            page.evaluate(axe)
            found = page.evaluate("async () => (await axe.run('main')).violations")
            assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
            page.screenshot(path=screenshots / f"viewer-phone-{kind}-{scheme}.png", full_page=True)
        for name, least in [("ink", 4.5), *((str(line), 3) for line in range(6))]:
            assert contrast(page, scheme, f"viewer-colour-{name}") >= least, name
        assert contrast(page, scheme, "viewer-traffic") >= 4.5


def contrast(page: Page, scheme: str, name: str) -> float:
    """The contrast of a class's colour with the page behind it (WCAG 2)."""
    colour = page.evaluate(
        """(name) => {
            const element = document.querySelector(`.${name}`) ?? document.createElement("span");
            if (!element.isConnected) {
                element.className = name;
                document.querySelector("main").append(element);
            }
            return getComputedStyle(element).color;
        }""",
        name,
    )
    behind = (255, 255, 255) if scheme == "light" else (18, 18, 18)  # as the page has it
    lights = sorted(luminance(each) for each in (behind, [int(part) for part in re.findall(r"\d+", colour)]))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour: Any) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (each / 255 for each in colour)
    ]
    return float(np.dot(linear[:3], [0.2126, 0.7152, 0.0722]))


def test_the_viewer_is_small_and_comes_when_it_is_wanted(package, node):
    done = node("build.mjs", "viewer")
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^build/viewer/(\S+): .* bytes, (\d+) compressed, (\w+)$", done.stdout, re.MULTILINE)
    sizes = {name: int(size) for name, size, kind in lines if kind == "viewer"}
    assert sum(sizes.values()) < 100_000
    first = (package / "build" / "viewer" / "page.js").read_text()
    assert "uplot" not in first.lower()
    assert sizes["page.js"] < 5000
