"""Writing the site into folders and buckets: whole or not at all, twice the same, nothing embargoed."""

import json
import re
from pathlib import Path

import pytest
from site_by_hand import FILES, asset, failed, page_of, pass_over, publish_assets

from shadowzarr.catalog.bucket_output import bucket_output
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.site.built_page import built_page
from shadowzarr.catalog.site.index_page import named_data, plain_origin, policy
from shadowzarr.catalog.site.write_site import write_site
from shadowzarr.errors import OutputError, UsageError

pytest.importorskip("duckdb")


@pytest.fixture
def page(tmp_path):
    return page_of(tmp_path / "built")


@pytest.fixture
def layout(tmp_path):
    """An output of two assets, one of which failed, and one that was passed over."""
    layout = layout_at(tmp_path / "out")
    publish_assets(layout, [asset(0), failed(2, "it is <b>cut</b>", dandiset="000002")])
    pass_over(layout, "000002", {"path": "a.zarr", "reason": "already Zarr"})
    return layout


def site_of(folder: Path) -> dict[str, bytes]:
    names = [folder / "index.html", *(folder / "site").rglob("*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in names if path.is_file()}


def test_the_page_names_its_files_and_its_data(layout, page):
    written = write_site(layout, page=page)
    assert (written.index, written.is_new) == (layout.folder / "index.html", True)
    files = site_of(layout.folder)
    index = files.pop("index.html").decode()
    digest = named_data(index.encode())
    assert set(files) == {
        *(f"site/files/{name}" for name in FILES),
        f"site/data/{digest}/catalog.json",
        f"site/data/{digest}/assets-0.json",
    }
    assert 'src="site/files/page-AAAA.js"' in index
    assert re.findall(r'modulepreload" href="([^"]*)', index) == ["site/files/chunk-BBBB.js"]
    assert "<script>" not in index
    overview = json.loads(files[f"site/data/{digest}/catalog.json"])
    assert [each["states"] for each in overview["dandisets"]] == [{"indexed": 1}, {"failed": 1, "skipped": 1}]
    assert overview["dandisets"][1]["passed_over"] == {"already Zarr": 1}
    assert overview["types"] == [["ElectricalSeries", 1], ["NWBFile", 1]]
    assert overview["report"] is None
    assert b"<b>cut</b>" not in index.encode()


def test_the_same_output_gives_the_same_site_and_is_not_written_again(layout, page, tmp_path):
    write_site(layout, page=page)
    first = site_of(layout.folder)
    times = {name: (layout.folder / name).stat().st_mtime_ns for name in first}
    assert not write_site(layout, page=page).is_new
    assert {name: (layout.folder / name).stat().st_mtime_ns for name in first} == times
    other = layout_at(tmp_path / "other")
    publish_assets(other, [asset(0), failed(2, "it is <b>cut</b>", dandiset="000002")])
    pass_over(other, "000002", {"path": "a.zarr", "reason": "already Zarr"})
    write_site(other, page=page)
    assert site_of(other.folder) == first


def test_the_state_before_stays_and_older_ones_go(layout, page, tmp_path):
    digests = []
    for number in range(3):
        publish_assets(layout, [asset(number)])
        script = f"page-{number}.js"
        changed = page_of(tmp_path / f"built-{number}", {script: "1", "chunk.js": "1", "page.css": ""})
        write_site(layout, page=changed)
        digests.append(named_data((layout.folder / "index.html").read_bytes()))
    files = site_of(layout.folder)
    assert {name.split("/")[2] for name in files if name.startswith("site/data/")} == set(digests[1:])
    scripts = {name for name in files if re.search(r"page-\d", name)}
    assert scripts == {"site/files/page-1.js", "site/files/page-2.js"}


def test_changes_of_lists_and_of_the_report_are_noticed(layout, page):
    write_site(layout, page=page)
    pass_over(layout, "000002", {"path": "b.zarr", "reason": "already Zarr"})
    assert write_site(layout, page=page).is_new
    (layout.folder / "report.html").write_text("r")
    assert write_site(layout, page=page).is_new
    digest = named_data((layout.folder / "index.html").read_bytes())
    overview = layout.folder / "site" / "data" / str(digest) / "catalog.json"
    assert json.loads(overview.read_text())["report"] == "report.html"


def test_nothing_embargoed_is_in_a_site(layout, page, tmp_path):
    pass_over(layout, "000002", {"path": "secret.nwb", "reason": "embargoed", "private": True})
    write_site(layout, page=page)
    assert not any(b"secret" in content for content in site_of(layout.folder).values())
    private = layout_at(tmp_path / "private")
    publish_assets(private, [asset(1)], is_private=True)
    with pytest.raises(UsageError, match="no site is written of a private output"):
        write_site(private, page=page)
    assert not (private.folder / "index.html").exists()


def test_a_failure_leaves_the_page_that_was_there(layout, page, monkeypatch):
    write_site(layout, page=page)
    before = site_of(layout.folder)
    publish_assets(layout, [asset(5)])

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shadowzarr.catalog.folder_output.write_whole", full)
        with pytest.raises(OutputError, match="cannot write the site in .*: No space left"):
            write_site(layout, page=page)
    after = site_of(layout.folder)
    assert {name: after[name] for name in before} == before
    assert write_site(layout, page=page).is_new


def test_a_page_of_somebody_else_stays(layout, page):
    index = Path(layout.folder / "index.html")
    index.write_text("<h1>My lab</h1>")
    with pytest.raises(UsageError, match="is not a page of this catalogue"):
        write_site(layout, page=page)
    assert index.read_text() == "<h1>My lab</h1>"


def test_a_page_that_is_not_built_says_how_that_is_done(layout, tmp_path):
    with pytest.raises(UsageError, match=r"is not built: run `make site-assets`"):
        built_page(tmp_path / "nothing")
    page_of(tmp_path / "built")
    (tmp_path / "built" / "chunk-BBBB.js").unlink()
    with pytest.raises(UsageError, match=r"not whole \(chunk-BBBB.js\): run `make site-assets`"):
        built_page(tmp_path / "built")


def test_an_output_without_a_catalogue_says_how_one_is_made(tmp_path, page):
    (tmp_path / "bare").mkdir()
    with pytest.raises(UsageError, match="catalog rebuild"):
        write_site(layout_at(tmp_path / "bare"), page=page)


def test_browsers_may_read_from_the_servers_of_the_files_and_run_nothing_else(layout, page):
    publish_assets(
        layout, [asset(1, url="http://minio.lab:9000/b/a.nwb"), asset(2, url="http://evil.test;x/a")]
    )
    write_site(layout, page=page)
    told = policy(["http://minio.lab:9000"])
    index = (layout.folder / "index.html").read_text()
    assert re.search(r'Security-Policy" content="([^"]*)"', index)[1].replace("&#x27;", "'") == told
    assert "script-src 'self' 'wasm-unsafe-eval';" in told
    assert "unsafe-inline" not in told
    assert "default-src 'none'" in told
    assert plain_origin("http://127.0.0.1:8777/api") is None
    assert plain_origin("https://a.test/") is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_bucket_files_have_the_types_that_browsers_want(object_store, page, tmp_path):
    layout = layout_at(bucket_output("s3://sources/out", workings=tmp_path / "work"))
    with layout.store.held():
        publish_assets(layout, [asset(1)])
        pass_over(layout, "000001", {"path": "a.zarr", "reason": "already Zarr"})
        write_site(layout, page=page)
        assert not write_site(layout, page=page).is_new
    found = object_store.list_objects_v2(Bucket="sources", Prefix="out/")["Contents"]
    kinds = {}
    for each in found:
        head = object_store.head_object(Bucket="sources", Key=each["Key"])
        kinds[each["Key"].rpartition(".")[2]] = (head["ContentType"], head.get("CacheControl"))
    assert kinds["html"] == ("text/html; charset=utf-8", "no-cache")
    assert kinds["js"] == ("text/javascript; charset=utf-8", None)
    assert kinds["css"] == ("text/css; charset=utf-8", None)
    assert kinds["json"] == ("application/json", None)
