"""The README's table of what each tool keeps of HDF5, tried again for what is installed here."""

import re
from importlib.metadata import version
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytest.importorskip("hdf5plugin")
supports = pytest.importorskip("benchmarks.supports")
HERE = {"shadowzarr": supports.ours, "kerchunk": supports.kerchunk, "VirtualiZarr": supports.virtualizarr}


def rows():
    table = README.partition(supports.BEGIN)[2].partition(supports.END)[0]
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n") if "|" in line
    ]
    return {name: dict(zip(lines[0][1:], cells, strict=True)) for name, *cells in lines[2:]}


def test_the_table_has_every_feature():
    assert list(rows()) == list(supports.FEATURES)


@pytest.mark.parametrize("name", supports.FEATURES)
def test_a_row_is_true(name, tmp_path, monkeypatch):
    pytest.importorskip("virtualizarr")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        supports.FEATURES[name](file)
    found = {tool: supports.judged(read, path) for tool, read in HERE.items()}
    assert found == {tool: rows()[name][tool] for tool in HERE}


def test_versions_are_those_that_were_tried():
    for tool in ("kerchunk", "VirtualiZarr"):
        assert f"| {tool} {version(tool.lower())} |" in README
    assert f"zarr {'.'.join(version('zarr').split('.')[:2])} " in README
    assert '"lindi==0.4.6"' in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_figures_are_those_of_the_page_of_performance():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    figures = README.partition("## How fast")[2].partition("\n## ")[0]
    row = r"^\| (?:references for|reading): (.*?) \| ([\d,]+) requests?, ([\d.]+) s \| (.*?): ([\d.]+) × "
    found = re.findall(row, figures, re.MULTILINE)
    assert len(found) == 5
    for name, requests, seconds, peer, times in found:
        (line,) = re.findall(rf"^\| {re.escape(name)} \| {times} × \|.*$", page, re.MULTILINE)
        cells = [cell.strip() for cell in line.split("|")]
        assert (cells[5], cells[8], cells[9]) == (requests, seconds, peer)
