"""Names, attributes and addresses that would run code if the page let them; and thousands of assets."""

import json
from pathlib import Path

import h5py
import pytest
from playwright.sync_api import expect
from site_by_hand import asset, failed, pass_over, publish_assets

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.site.write_site import write_site
from shadowzarr.testing.page_server import PageServer

pytest.importorskip("duckdb")
pytestmark = pytest.mark.xdist_group("js")

BUILD = Path(__file__).resolve().parents[2] / "build"
ATTACK = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>"><svg onload=window.hit=1>'
NAME = "<img src=x onerror=window.hit=1>'\"&amp;"
LINKS = "links => links.map((link) => link.href)"


@pytest.fixture
def layout(tmp_path):
    return layout_at(tmp_path / "out")


def write_hostile(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        file.attrs["neurodata_type"] = ATTACK
        file.attrs[NAME] = ATTACK
        group = file.create_group(NAME)
        group.attrs["javascript:window.hit=1"] = "javascript:window.hit=1"
        group.attrs["onclick"] = ATTACK
        group[NAME] = [ATTACK, "javascript:window.hit=1", "\u202egnp.exe"]
        group["__proto__"] = 1.0
        group["constructor"] = 2.0
        group["link"] = h5py.SoftLink(f"/{NAME}")
    return path


def check_harmless(page) -> None:
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main script, main svg, main iframe").count() == 0
    links = page.locator("a").evaluate_all(LINKS)
    assert links
    assert all(link.startswith(("http://", "https://")) for link in links)
    assert page.locator("[onclick], [onerror], [onload], [style]").count() == 0


def test_nothing_of_the_data_is_run(page, layout, built_site, tmp_path):
    hostile = {
        "asset_path": f"sub/{NAME}", "url": "javascript:window.hit=1", "species": ATTACK,
        "session_description": ATTACK, "experimenters": [ATTACK], "references_path": "a.shadowzarr",
    }  # fmt: skip
    rows = [
        asset(0, **hostile),
        asset(1, url="https://user:secret@evil.test/", asset_path="javascript:window.hit=1"),
        failed(2, ATTACK, dandiset=ATTACK, version="javascript:window.hit=1"),
        asset(3, asset_path="__proto__", references_path="javascript:window.hit=1"),
    ]
    publish_assets(layout, rows, types=[ATTACK, "ElectricalSeries"])
    pass_over(layout, "000004", {"path": ATTACK, "reason": ATTACK, "detail": "javascript:window.hit=1"})
    document = generate_rfs(write_hostile(tmp_path / "hostile.h5"))
    document["skipped"] = [{"path": NAME, "kind": "dataset", "reason": ATTACK}]
    write_rfs(document, layout.folder / "a.shadowzarr")
    write_site(layout, page=built_site)
    with PageServer(Path(layout.folder)) as server:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        page.goto(server.base_url)
        expect(page.locator("table.assets tbody tr")).to_have_count(5)
        expect(page.get_by_text("failed", exact=False).first).to_be_visible()
        check_harmless(page)
        for text in (ATTACK, "javascript:window.hit=1"):
            page.get_by_role("searchbox").fill(text)
            check_harmless(page)
        page.get_by_role("searchbox").fill("sub/")
        page.get_by_role("link", name=f"sub/{NAME}", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"sub/{NAME}")
        tree = page.get_by_role("tree")
        tree.get_by_role("treeitem", name=NAME).first.click()
        expect(page.locator("table.attributes")).to_contain_text(ATTACK)
        page.get_by_text("object left out").click()
        check_harmless(page)
        page.locator(".tree .array", has_text=NAME).click()
        expect(page.locator("table.values td").first).to_have_text(ATTACK)
        expect(page.locator("table.values td").nth(2)).to_have_text("\\u{202e}gnp.exe")
        check_harmless(page)
        page.locator(".tree .array", has_text="__proto__").click()
        expect(page.locator("table.values td")).to_have_text(["1"])


def test_an_address_that_names_nothing_or_is_no_address_shows_the_catalogue(page, layout, built_site):
    publish_assets(layout, [asset(1)])
    write_site(layout, page=built_site)
    with PageServer(Path(layout.folder)) as server:
        for hash_ in (
            "#/asset/%E0%A4%A",
            "#<script>window.hit=1</script>",
            "#/?page=-3&sort=__proto__&q=ses",
            "#javascript:1",
        ):
            page.goto("about:blank")
            page.goto(f"{server.base_url}/{hash_}")
            expect(page.locator("table.assets tbody tr")).to_have_count(1)
            check_harmless(page)


def test_data_that_are_gone_meanwhile_are_told(browser, layout, built_site):
    publish_assets(layout, [asset(1)])
    write_site(layout, page=built_site)
    (data,) = Path(layout.folder, "site", "data").iterdir()
    page = browser.new_page()  # its console shows the 404
    with PageServer(Path(layout.folder)) as server:
        for name in ("assets-0.json", "catalog.json"):
            (data / name).unlink()
            page.goto(server.base_url)
            expect(page.get_by_role("alert")).to_contain_text(f"{name}: nothing is there (404)")
            expect(page.get_by_role("alert")).to_contain_text("reload the page")
    page.close()


def test_five_thousand_assets_are_searched_a_page_at_a_time(page, layout, built_site):
    rows = [asset(n) for n in range(4900)] + [failed(n, "cut after 3000 bytes") for n in range(4900, 5000)]
    publish_assets(
        layout, rows, types=["NWBFile", "Subject", "ElectricalSeries", "LFP", "ElectrodeGroup", "Device"]
    )
    write_site(layout, page=built_site)
    sizes = {path.name: path.stat().st_size for path in Path(layout.folder, "site").rglob("*.json")}
    assert max(sizes.values()) < 2_000_000
    with PageServer(Path(layout.folder)) as server:
        client = page.context.new_cdp_session(page)
        client.send("Performance.enable")
        page.goto(server.base_url)
        table = page.locator("table.assets tbody tr")
        expect(table).to_have_count(50)
        first = metrics(client)
        expect(page.locator("p.status")).to_have_text("1–50 of 5,000 assets")
        whole = metrics(client)
        requested = [(entry.path, entry.sent) for entry in server.log]
        nodes = page.evaluate("document.querySelectorAll('*').length")
        page.get_by_role("searchbox").fill("ses-04999")
        expect(table).to_have_count(1)
        page.get_by_role("searchbox").fill("rattus")
        expect(page.locator("p.status")).to_contain_text("1–50 of 1,")
        page.get_by_role("button", name="Next").click()
        expect(page.locator("p.status")).to_contain_text("51–100 of")
        page.get_by_label("State").select_option("failed")
        page.get_by_role("searchbox").fill("")
        expect(page.locator("p.status")).to_contain_text("1–50 of 100 of 5,000 assets")
        searched = metrics(client)
    told = {
        "first view": first, "all rows": whole, "and four searches": searched, "elements": nodes,
        "requests": requested, "data": sizes,
    }  # fmt: skip
    BUILD.mkdir(exist_ok=True)
    (BUILD / "site-5000.json").write_text(json.dumps(told, indent=2))
    seconds = [each["TaskDuration"] for each in (first, whole)]
    print(
        f"5,000 assets: {seconds[0]:.2f} s of main thread to the first view, {seconds[1]:.2f} s to all rows"
    )
    assert len(requested) <= 5 + len(sizes)
    assert sum(nbytes for _, nbytes in requested) < 4_000_000
    assert nodes < 2500


def metrics(client) -> dict[str, float]:
    found = {each["name"]: each["value"] for each in client.send("Performance.getMetrics")["metrics"]}
    return {name: found[name] for name in ("TaskDuration", "ScriptDuration", "LayoutDuration", "Nodes")}
