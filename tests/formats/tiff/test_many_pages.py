"""A stack of many pages: its references are small, and our own code does nothing for each page."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest
import tifffile
from tiff_by_hand import Page, gray, write
from tiff_features import smooth

from benchmarks.tiff_pages import write_stack
from shadowzarr import write_rfs
from shadowzarr.formats.tiff.generate import generate_rfs_tiff
from shadowzarr.store.open_rfs import open_rfs

OURS = str(Path(__file__).resolve().parents[3] / "shadowzarr")


def calls(path: Path) -> Counter[str]:
    """How often each function of ours is called while references are made."""
    called: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            called[f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"] += 1

    sys.setprofile(count)
    try:
        generate_rfs_tiff(path, chunk_index_threshold=100)  # below that, each chunk is a reference of its own
    finally:
        sys.setprofile(None)
    return called


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_evenly_spaced_pages_are_one_rule(tmp_path: Path) -> None:
    write_stack(tmp_path / "stack.tif", 20_000)
    rfs = generate_rfs_tiff(tmp_path / "stack.tif")
    write_rfs(rfs, tmp_path / "stack.shadowzarr")
    assert size(tmp_path / "stack.shadowzarr") < 20_000
    assert len(rfs["gen"]) == 1
    root = open_rfs(tmp_path / "stack.shadowzarr")
    assert root["0"].shape == (20_000, 32, 32)
    last = tifffile.imread(tmp_path / "stack.tif", key=19_999)
    assert root["0"][19_999].tolist() == last.tolist()


@pytest.mark.parametrize("kind", ["evenly spaced", "unevenly spaced", "in one piece"])
def test_no_function_of_ours_is_called_for_each_page(tmp_path: Path, kind: str) -> None:
    counts = []
    for pages in (200, 400):
        path = tmp_path / f"{pages}.tif"
        if kind == "evenly spaced":
            write_stack(path, pages)
        elif kind == "unevenly spaced":
            listed = [Page(gray(12, 10), [bytes(120) + bytes(number % 5)]) for number in range(pages)]
            path.write_bytes(write(listed))
        else:
            tifffile.imwrite(path, smooth(pages, 20, 30), photometric="minisblack")
        counts.append(calls(path))
    grown = {name: count for name, count in (counts[1] - counts[0]).items() if count >= 50}
    assert grown == {}


def test_many_unevenly_spaced_pages_have_an_index(tmp_path: Path) -> None:
    path = tmp_path / "stack.tif"
    listed = [Page(gray(4, 4), [bytes([number % 256] * 16) + bytes(number % 5)]) for number in range(3000)]
    path.write_bytes(write(listed))
    rfs = generate_rfs_tiff(path)
    write_rfs(rfs, tmp_path / "stack.shadowzarr")
    assert size(tmp_path / "stack.shadowzarr") < 20_000
    root = open_rfs(tmp_path / "stack.shadowzarr")
    assert (root["0"][...] == tifffile.imread(path)).all()
