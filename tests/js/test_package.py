"""The JavaScript package reads what Python writes, and passes its own tests."""

import importlib.util
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import quote

import h5py
import numpy as np
import pytest
from browser_page import found_in_page
from js_documents import Documents, make_hdf5, make_tiff

from shadowzarr import generate_rfs, load_rfs, write_rfs
from shadowzarr.testing import CrossOrigin, RangeServer

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden"

pytestmark = pytest.mark.xdist_group("js")


@pytest.fixture(scope="module")
def features() -> ModuleType:
    """The rows of every feature of HDF5."""
    place = TESTS / "formats" / "hdf5" / "test_features.py"
    spec = importlib.util.spec_from_file_location("features_for_js", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def server(features: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RangeServer]:
    """Serves documents and their list: golden ones, and fresh ones of every feature and filter."""
    folder = tmp_path_factory.mktemp("js")
    with RangeServer(folder) as server:
        made = Documents(folder, server.url)
        add_golden(made)
        for name, suffix, options in make_hdf5(folder):
            made.add_hdf5(name, suffix=suffix, **options)
        for name in make_tiff(folder):
            made.add_tiff(name)
        made.write("some-documents.json")
        add_features(made, features)
        made.write()
        yield server


def add_golden(made: Documents) -> None:
    for folder in sorted(path for path in GOLDEN.iterdir() if (path / "expected.json").is_file()):
        shutil.copytree(folder, made.folder / folder.name)
        for path in sorted([*folder.glob("*.shadowzarr"), *folder.glob("*.json")]):
            if path.name != "expected.json":
                made.add_written(f"{folder.name}/{path.name}", load_rfs(path))


def add_features(made: Documents, features: ModuleType) -> None:
    """One file each; those of links are the same to a reader, and what is left out is not there."""
    topics = {features.LINKS, features.LEFT, features.FILES}
    for number, (name, feature) in enumerate(zip(features.identifiers(), features.FEATURES, strict=True)):
        if feature.topic in topics:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what is left out or copied, which other tests look at
            with h5py.File(made.folder / f"{name}.h5", "w", **feature.options) as file:
                feature.build(file)
            made.add_hdf5(name, suffix=".json" if number % 2 else "")


def test_reads_what_python_reads(bundled, node, server):
    done = node("--test", *bundled, SHADOWZARR_DOCUMENTS=server.url("documents.json"))
    assert done.returncode == 0, failures(done.stdout) + done.stderr
    ran = re.search(r"^# pass (\d+)", done.stdout, re.MULTILINE)
    assert ran is not None, done.stdout[-2000:]
    assert int(ran[1]) > 80
    assert re.search(r"^# skipped 0$", done.stdout, re.MULTILINE)


def test_reads_the_same_in_a_page_of_another_origin(in_page, server):
    server.log.clear()
    assert len(in_page(server, "some-documents.json")) > 15
    assert server.log.count(method="OPTIONS", status=200) > 0  # If-Match needs them
    assert any(entry.if_match for entry in server.log)


def test_a_page_reads_without_if_match_where_its_preflight_is_refused(in_page, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=np.arange(1000), chunks=(300,), compression="gzip")
    with RangeServer(tmp_path, cross_origin=CrossOrigin(request_headers=("range",))) as server:
        made = Documents(tmp_path, server.url)
        made.add_hdf5("a", suffix=".json")
        made.write()
        server.log.clear()
        assert in_page(server) == ["ok a.json"]
        assert server.log.count(method="OPTIONS", status=403) > 0
        assert server.log.count("a.h5", method="GET", status=206) > 0
        assert not any(entry.if_match for entry in server.log)


@pytest.fixture
def in_page(chromium, package, node, tmp_path):
    """Compares what a server has in a page of another origin, and gives a line for each document."""
    built = node("build.mjs", "page")
    assert built.returncode == 0, built.stderr

    def check(server, documents="documents.json"):
        query = f"documents={quote(server.url(documents))}"
        folder = package / "build" / "page"
        found = found_in_page(folder, "browser.js", query, chromium=chromium, profile=tmp_path / "profile")
        lines = found.splitlines()
        assert [line for line in lines if not line.startswith("ok ")] == []
        return lines

    return check


def test_types_fit(package, node):
    done = node("node_modules/typescript/bin/tsc")
    assert done.returncode == 0, done.stdout


def test_the_example_runs(package, node, tmp_path):
    (text,) = re.findall(r"```js\n(.*?)```", (package / "README.md").read_text(), re.DOTALL)
    url = "https://example.org/references/sub-01.shadowzarr"
    assert url in text
    with h5py.File(tmp_path / "a.h5", "w") as file:
        data = np.arange(4000, dtype="<i2").reshape(1000, 4)
        file.create_dataset(
            "acquisition/ElectricalSeries/data", data=data, chunks=(300, 4), compression="gzip"
        )
        file["acquisition/ElectricalSeries"].attrs["rate"] = np.nan
    built = node("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json")
    assert built.returncode == 0, built.stdout
    example = package / "build" / "example.mjs"
    with RangeServer(tmp_path) as server:
        write_rfs(generate_rfs(server.url("a.h5")), tmp_path / "a.shadowzarr")
        example.write_text(text.replace(url, server.url("a.shadowzarr")))
        done = node(str(example))
    assert done.returncode == 0, done.stderr
    shown = [
        "[ 'ElectricalSeries' ]",
        "[ 1000, 4 ] int16 { rate: NaN }",
        "[ 1000 ] Int16Array(5) [ 3, 7, 11, 15, 19 ]",
    ]
    assert done.stdout.splitlines() == shown


def test_a_page_loads_as_much_as_the_docs_say(package, node):
    done = node("build.mjs", "bundle")
    assert done.returncode == 0, done.stderr
    sizes = dict(re.findall(r"^(\S+): .* bytes, (\d+) compressed$", done.stdout, re.MULTILINE))
    told = re.search(r"A page loads (\d+) kB", (TESTS.parent / "docs" / "browser.md").read_text())
    assert told is not None
    assert abs(int(sizes["shadowzarr.js"]) / 1000 - int(told[1])) < 2


def test_the_lock_file_names_no_registry(package):
    text = (package / "package-lock.json").read_text()
    assert '"resolved"' not in text
    assert "://" not in text


def failures(output: str) -> str:
    """The failed tests of an output in TAP."""
    found = re.findall(r"^\s*not ok .*?^\s*\.\.\.$", output, re.MULTILINE | re.DOTALL)
    return "\n".join(part[:2000] for part in found) or output[-4000:]
