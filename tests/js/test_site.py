"""The page of the catalogue in Chromium, over an archive with the demonstration's files."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from chromium import opened
from indexed_by_hand import index_by_hand, listed
from playwright.sync_api import expect

from shadowzarr import load_rfs
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.site.write_site import write_site
from shadowzarr.testing import ArchiveServer
from shadowzarr.testing.page_server import PageServer
from shadowzarr.testing.sample_nwb import write_sample_dandisets

pytest.importorskip("pynwb")
pytestmark = pytest.mark.xdist_group("js")

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
RECORDING = "sub-01/sub-01_ses-20260302_ecephys.nwb"
IMAGING = "sub-03/sub-03_ses-20260302_ophys.nwb"
DATA = "acquisition/ElectricalSeries/data"


@pytest.fixture(scope="module")
def site(built_site, tmp_path_factory) -> Iterator[SimpleNamespace]:
    """The output of an archive, handed out: its address, its layout, and the folder of the files."""
    folder = tmp_path_factory.mktemp("site")
    write_sample_dandisets(folder / "archive")
    layout = layout_at(folder / "out")
    with ArchiveServer(folder / "archive") as archive:
        index_by_hand(layout, listed(archive.api_url, "000001", "000002", "000003"))
        write_site(layout, page=built_site)
        with PageServer(folder / "out") as server:
            yield SimpleNamespace(
                url=server.base_url, layout=layout, files=folder / "archive", log=server.log
            )


def rows(page):
    return page.locator("table.assets tbody tr")


def shoot(page, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def open_asset(page, site, node: str = "") -> None:
    query = f"?node={node}" if node else ""
    page.goto(f"{site.url}/#/asset/000001/draft/{RECORDING.replace('/', '%2F')}{query}")
    expect(page.get_by_role("tree")).to_be_visible()


def test_assets_are_listed_searched_and_filtered(page, site):
    page.goto(site.url)
    expect(rows(page)).to_have_count(5)
    expect(page.get_by_role("status")).to_have_text("1–5 of 5 assets")
    shoot(page, "catalogue")
    box = page.get_by_role("searchbox", name="Search")
    for text, found in (
        ("ecephys", 3),
        ("ecephys SUB-01", 1),
        ("twophotonseries", 1),
        ("nothing", 0),
        ("", 5),
    ):
        box.fill(text)
        expect(rows(page)).to_have_count(found)
    page.get_by_label("Neurodata type").select_option("Units")
    expect(rows(page)).to_have_count(1)
    assert page.url.endswith("#/?type=Units")
    page.reload()  # the address says what was looked for
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("link", name="000001/draft").first.click()
    expect(rows(page)).to_have_count(3)


def test_assets_are_sorted_by_keyboard(page, site):
    page.goto(site.url)
    head = page.get_by_role("columnheader", name="Size").nth(1)
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(rows(page).first).to_contain_text("16.2 MB")
    page.keyboard.press("Enter")
    expect(rows(page).first).to_contain_text("1.26 MB")


def test_a_file_is_walked_through_by_keyboard(page, site):
    page.goto(site.url)
    page.get_by_role("searchbox").fill(RECORDING)
    page.get_by_role("link", name=RECORDING, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(RECORDING)
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem").first).to_be_visible()
    tree.locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name=f"/{DATA}")).to_be_visible()
    assert page.evaluate("document.activeElement.textContent").startswith("data")
    assert page.url.endswith(f"?node={DATA.replace('/', '%2F')}")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem", name=re.compile("^ElectricalSeries")).first).to_have_attribute(
        "aria-expanded", "false"
    )
    page.go_back()
    page.go_back()
    expect(rows(page)).to_have_count(1)  # the search is still there


def test_an_array_is_shown_as_python_reads_it(page, site):
    open_asset(page, site, DATA)
    path = site.files / "000001" / RECORDING
    references = load_rfs(site.layout.folder / f"dandisets/000001/draft/{RECORDING}.shadowzarr")
    page.get_by_role("button", name="Show the first values").click()
    cells = page.locator("table.values td")
    expect(cells).to_have_count(100)
    with h5py.File(path) as file:
        data = file[DATA]
        shown = np.array(cells.all_inner_texts(), dtype=data.dtype).reshape(10, 10)
        assert np.array_equal(shown, data[:10, :10])
        chunk = data.id.get_chunk_info_by_coord((20_000, 8))
        facts = page.locator(".node .facts").inner_text()
        assert f"{data.shape[0]:,} × {data.shape[1]}" in facts
        assert f"{data.chunks[0]:,} × {data.chunks[1]}" in facts
        attributes = dict(page.locator("table.attributes tbody tr").evaluate_all(
            "rows => rows.map((row) => [row.cells[0].textContent, row.cells[1].textContent])"
        ))  # fmt: skip
        assert float(attributes["conversion"]) == data.attrs["conversion"]
        assert attributes["unit"] == data.attrs["unit"]
    page.get_by_label("Axis 0").fill("2")
    page.get_by_label("Axis 1").fill("1")
    first, last = chunk.byte_offset, chunk.byte_offset + chunk.size - 1
    expect(page.locator(".place")).to_contain_text(f"Bytes {first:,} to {last:,}")
    url = page.locator(".place a").get_attribute("href")
    assert url in references["sources"]
    shoot(page, "asset")


def test_values_of_small_arrays_are_shown_at_once(page, site):
    open_asset(page, site, "general/experimenter")
    expect(page.locator("table.values td")).to_have_text(["Example, Ada", "Muster, Erik"])
    expect(page.locator(".place")).to_contain_text("in the references themselves")


def test_traces_are_plotted_and_zoomed_into_as_python_reads_them(page, site):
    page.goto(site.url)
    page.get_by_role("searchbox").fill("electricalseries sub-01")
    page.get_by_role("link", name=RECORDING, exact=True).click()
    page.get_by_role("link", name="ElectricalSeries: traces").first.click()
    view = page.locator(".shadowzarr-viewer")
    expect(view).to_contain_text("90000 samples of 32 channels")
    for _ in range(8):
        page.get_by_role("button", name="Zoom in").click()
    expect(view).to_contain_text("every sample is drawn")
    page.get_by_text("Values as a table").click()
    shown = view.locator("details tbody tr")
    expect(shown.first).to_contain_text("V")
    cells = shown.evaluate_all("rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))")
    with h5py.File(site.files / "000001" / RECORDING) as file:
        data = file[DATA]
        samples = np.round(np.array([float(row[0]) for row in cells]) * 30_000).astype(int)
        microvolts = data[samples[0] : samples[-1] + 1, :16] * data.attrs["conversion"] * 1e6
    assert len(samples) > 50
    assert float(cells[0][0]) >= float(page.get_by_label("From", exact=True).input_value()) - 1e-6
    slider = page.get_by_label("Position")
    for edge in ("paddingLeft", "borderLeftWidth"):  # the handle begins where the track does
        assert slider.evaluate(f"(field) => getComputedStyle(field).{edge}") == "0px"
    assert np.array_equal(np.diff(samples), np.ones(len(samples) - 1))
    drawn = np.array([[in_microvolts(text) for text in row[1:]] for row in cells])
    assert np.allclose(drawn, microvolts, rtol=1e-3, atol=1e-6)
    shoot(page, "traces")


def in_microvolts(text: str) -> float:
    number, unit = text.replace("\N{MINUS SIGN}", "-").split()
    return float(number) * {"V": 1e6, "mV": 1e3, "µV": 1.0, "nV": 1e-3}[unit]


def test_images_are_shown_frame_by_frame(page, site):
    page.goto(f"{site.url}/#/asset/000002/draft/{IMAGING.replace('/', '%2F')}")
    page.get_by_role("link", name="TwoPhotonSeries: images").first.click()
    view = page.locator(".shadowzarr-viewer")
    with h5py.File(site.files / "000002" / IMAGING) as file:
        frames = file["acquisition/TwoPhotonSeries/data"][:2]
    for number, frame in enumerate(frames):
        expect(view).to_contain_text(f"Frame {number} (of 0-239)")
        expect(view).to_contain_text(f"stored values {frame.min()} to {frame.max()}")
        page.get_by_role("button", name="Next").click()
    shoot(page, "images")


def test_a_view_is_drawn_and_its_address_kept(page, site):
    open_asset(page, site)
    page.get_by_role("link", name="electrodes: table").click()
    expect(page.locator(".shadowzarr-viewer")).to_contain_text("electrodes")
    assert "view=table" in page.url
    expect(page.get_by_role("link", name="electrodes: table").first).to_have_attribute("aria-current", "true")


def test_what_is_not_there_is_said(page, site):
    page.goto(f"{site.url}/#/asset/000001/draft/no.nwb")
    expect(page.get_by_role("alert")).to_have_text("The catalogue has no such asset.")
    open_asset(page, site, "no%2Fnode")
    expect(page.get_by_role("alert")).to_have_text("The references have no such node.")


def test_the_first_view_is_small(built_site):
    loaded = sum(len(gzip.compress((built_site.folder / name).read_bytes())) for name in built_site.first)
    print(f"first view: {loaded} bytes compressed in {len(built_site.first)} files")
    assert loaded < 300_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_is_accessible(browser, site, package, scheme, width):
    axe = (package / "node_modules" / "axe-core" / "axe.min.js").read_text()
    with opened(browser, color_scheme=scheme, viewport={"width": width, "height": 850}) as page:
        page.goto(site.url)
        expect(rows(page)).to_have_count(5)
        check_accessible(page, axe)
        if width < 500:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        shoot(page, f"catalogue-{scheme}-{width}")
        open_asset(page, site, DATA)
        expect(page.locator(".place")).to_contain_text("Bytes")
        check_accessible(page, axe)
        if width < 500:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        shoot(page, f"asset-{scheme}-{width}")


def check_accessible(page, axe: str) -> None:
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []


def test_colours_are_as_the_reader_chose(browser, site):
    with opened(browser, color_scheme="light") as page:
        page.goto(site.url)
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.get_by_role("button", name="Use dark colours").click()
        dark = page.evaluate(paper)
        assert dark != light
        page.reload()
        expect(page.get_by_role("button", name="Use light colours")).to_be_visible()
        assert page.evaluate(paper) == dark
