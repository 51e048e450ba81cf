"""Every TIFF file that was handed to the project: equal to tifffile, or refused by name."""

import gc
import warnings
from pathlib import Path

import pytest
from tiff_reading import ReadBack, assert_same

from shadowzarr.errors import ShadowzarrError
from shadowzarr.formats.tiff.generate import generate_rfs_tiff

REFUSED = 0
"""Files of the corpus that are refused; a smaller number is an improvement."""


def files(shared: Path, folder: str) -> list[Path]:
    return sorted(p for p in (shared / "corpus" / folder).rglob("*") if p.suffix in (".tif", ".tiff"))


def test_the_corpus_is_equal_or_refused(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    equal = left_out = 0
    refused: list[str] = []
    names = files(shared, "tiff")
    for path in names:
        try:
            back = ReadBack(path)
        except ShadowzarrError as error:
            refused.append(f"{path.name}: {error}")
            continue
        assert_same(path, back, left_out=len(back.skipped()))
        equal += len(back.arrays())
        left_out += len(back.skipped())
    with capsys.disabled():
        print(f" {len(names)} TIFF files: {equal} arrays equal, {left_out} left out, {len(refused)} refused")
    assert len(names) >= 37
    assert equal >= 42
    assert left_out == 0
    assert len(refused) <= REFUSED, refused


def test_damaged_files_are_refused_by_one_message(
    shared: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    names = files(shared, "bad")
    assert len(names) >= 2
    for path in names:
        with warnings.catch_warnings(record=True) as warned, pytest.raises(ShadowzarrError) as caught:
            generate_rfs_tiff(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert warned == []
    gc.collect()
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
