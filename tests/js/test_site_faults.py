"""The page with files, references and answers that are not as they should be: right values, or a word."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import h5py
import hdf5plugin
import numpy as np
import pytest
from playwright.sync_api import Page, expect
from site_by_hand import asset, publish_assets

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.site.write_site import write_site
from shadowzarr.testing import Fault, RangeServer
from shadowzarr.testing.page_server import PageServer

pytest.importorskip("duckdb")
pytestmark = pytest.mark.xdist_group("js")

NUMBERS = np.arange(200_000.0).reshape(-1, 2)
VALUES = "cells => cells.map((cell) => cell.textContent)"


def write_file(path: Path) -> None:
    with h5py.File(path, "w") as file:
        series = file.create_group("series")
        series.attrs["neurodata_type"] = "TimeSeries"
        data = series.create_dataset("data", data=NUMBERS, chunks=(1000, 2), compression="gzip")
        data.attrs["conversion"], data.attrs["unit"] = "1e-3", "\u202eV"
        series["timestamps"] = np.arange(40.0).reshape(20, 2)
        for name, codec in (("blosc", hdf5plugin.Blosc(cname="lz4")), ("zstd", hdf5plugin.Zstd())):
            file.create_dataset(name, data=NUMBERS, chunks=(50_000, 2), **codec)
        for number in range(5):
            file[f"small/{number}"] = [number, number + 0.5]


@pytest.fixture(scope="module")
def site(built_site, tmp_path_factory) -> Iterator[SimpleNamespace]:
    """A file, its references with chunk indexes and the same with damaged nodes, and servers for all."""
    folder = tmp_path_factory.mktemp("faults")
    write_file(folder / "a.h5")
    layout = layout_at(folder / "out")
    with RangeServer(folder) as files:
        document = generate_rfs(files.url("a.h5"), local_hdf5_path=folder / "a.h5", chunk_index_threshold=50)
        write_rfs(document, layout.folder / "a.shadowzarr")
        damaged = json.loads(Path(layout.folder, "a.shadowzarr", "refs.json").read_text())
        shape = damaged["refs"]["small/0/zarr.json"].replace('"shape":[2]', '"shape":"abc"')
        damaged["refs"] |= {"small/0/zarr.json": shape, "small/1/zarr.json": '{"zarr_fo'}
        Path(layout.folder, "b.shadowzarr").mkdir()
        Path(layout.folder, "b.shadowzarr", "refs.json").write_text(json.dumps(damaged))
        rows = [asset(1, asset_path=name, references_path=f"{name}.shadowzarr") for name in ("a", "b")]
        publish_assets(layout, rows)
        write_site(layout, page=built_site)
        with PageServer(Path(layout.folder)) as server:
            yield SimpleNamespace(url=server.base_url, files=files, server=server)


@pytest.fixture
def faults(site) -> Iterator[SimpleNamespace]:
    """Faults of the server of files and of that of the page, taken away at the end."""
    yield SimpleNamespace(files=site.files.faults, page=site.server.faults)
    site.files.faults.clear()
    site.server.faults.clear()


def address(name: str, node: str = "", view: str = "") -> str:
    return f"#/asset/000002/draft/{name}?node={quote(node, safe='')}&view={view}"


def go(page: Page, site: SimpleNamespace, *place: str) -> None:
    page.goto(f"{site.url}/{address(*place)}")


def test_codecs_of_webassembly_work_within_the_page_s_policy(page, site):
    for name in ("blosc", "zstd"):
        go(page, site, "a", name)
        page.get_by_role("button", name="Show the first values").click()
        cells = page.locator("table.values td")
        expect(cells).to_have_count(100)
        assert np.array_equal(np.array(cells.evaluate_all(VALUES), float), NUMBERS.ravel()[:100])
    go(page, site, "a", "series", "traces")  # by a chunk index, which is in Blosc
    expect(page.locator(".viewer-status")).to_contain_text("least and greatest value")


def test_what_is_left_out_of_a_picture_is_said(page, site):
    go(page, site, "a", "series", "traces")
    about = page.locator(".viewer-about")
    expect(about).to_contain_text("Samples are numbered: their timestamps have the shape [20, 2].")
    expect(about).to_contain_text('Values are drawn without conversion "1e-3", which is no number.')
    expect(about).to_contain_text("unit: \\u{202e}V")


def test_a_damaged_node_does_not_cost_the_others(page, site):
    go(page, site, "b", "small/2")
    expect(page.locator("table.values td")).to_have_text(["2", "2.5"])
    for number, told in (
        (0, 'array "/small/0" has shape "abc" in its zarr.json; expected a list of extents'),
        (1, "is not JSON"),
    ):
        page.locator(".tree [role=treeitem]", has_text=f"{number}damaged").click()
        expect(page.get_by_role("alert")).to_contain_text(told)
    page.locator(".tree [role=treeitem].array", has_text="3").first.click()
    expect(page.locator("table.values td")).to_have_text(["3", "3.5"])


def test_what_was_asked_for_last_is_shown(page, site, faults):
    faults.page.add(Fault(path="*/refs.json", latency=0.8, times=1))
    go(page, site, "a", "small/1")
    expect(page.get_by_text("Loading the references")).to_be_visible()
    page.evaluate("hash => (location.hash = hash)", address("a", "small/4"))
    expect(page.locator("table.values td")).to_have_text(["4", "4.5"])
    expect(page.locator("#node")).to_have_text("/small/4")


def test_the_error_of_a_chunk_before_does_not_hide_the_place_of_this_one(browser, site, faults):
    page = browser.new_page()  # its console shows the 404
    faults.page.add(Fault(path="*/index/*/c/*", status=404, latency=1.0, times=1))
    go(page, site, "a", "series/data")
    page.get_by_label("Axis 0").fill("")
    told = page.locator(".place")
    expect(told).to_contain_text("has no chunk (NaN, 0)")
    page.wait_for_timeout(1500)
    expect(told).to_contain_text("has no chunk (NaN, 0)")
    page.get_by_label("Axis 0").fill("3")
    expect(told).to_contain_text("Bytes")
    page.close()


def test_a_part_of_the_catalogue_that_cannot_be_read_is_told_as_long_as_it_is_missing(browser, site, faults):
    page = browser.new_page()  # its console shows the faults
    faults.page.add(Fault(path="*/assets-0.json", status=503, times=2))
    page.goto(site.url)
    expect(page.locator("table.assets tbody tr")).to_have_count(2)  # it was tried again
    page.close()
    page = browser.new_page()  # which has nothing kept
    faults.page.add(Fault(path="*/assets-0.json", short_by=9, declare_short=True))
    page.goto(site.url)
    page.get_by_role("searchbox").fill("sub")
    expect(page.get_by_role("alert")).to_contain_text("assets-0.json is damaged: expected JSON")
    expect(page.locator("p.status")).to_have_text("None of the 0 that are loaded is like that.")
    page.close()


def test_a_script_that_cannot_be_loaded_is_told(browser, site, faults):
    page = browser.new_page()  # its console shows the faults
    raised: list[str] = []
    page.on("pageerror", lambda error: raised.append(str(error)))
    page.goto(site.url)
    expect(page.locator("table.assets tbody tr")).to_have_count(2)
    faults.page.add(Fault(path="*/assetPage-*", status=503))
    page.get_by_role("link", name="a", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("reload the page")
    assert raised == []
    page.close()
