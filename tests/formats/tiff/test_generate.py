import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from tiff_by_hand import Page, gray, write
from tiff_features import broken_chain, ome_set, smooth, tables_of_their_own
from tiff_reading import ReadBack, assert_same

from shadowzarr import write_rfs
from shadowzarr.errors import (
    MissingDependencyError,
    NotTIFFError,
    SourceChangedError,
    SourceNotFoundError,
    UnsupportedError,
    UsageError,
)
from shadowzarr.formats.progress import GenerationEvent
from shadowzarr.formats.tiff.generate import generate_rfs_tiff


def test_sources_have_their_size(path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(path, image)
    rfs = generate_rfs_tiff(path)
    assert rfs["sources"] == {str(path): {"size": path.stat().st_size}}
    assert rfs["version"] == 1


def test_urls_of_local_files(path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(path, image)
    rfs = generate_rfs_tiff(path, url_for=lambda file: f"https://host/{Path(file).name}")
    assert list(rfs["templates"].values()) == ["https://host/file.tif"]
    assert list(rfs["sources"]) == ["https://host/file.tif"]


def test_every_file_of_a_set_has_its_url(path: Path) -> None:
    ome_set(path)
    asked: list[str] = []

    def url_for(file: str) -> str:
        asked.append(file)
        return f"https://host/{Path(file).name}"

    rfs = generate_rfs_tiff(path, url_for=url_for)
    names = ["file.tif", "other1.ome.tif", "other2.ome.tif"]
    assert sorted(map(Path, asked)) == [path.with_name(name) for name in names]
    assert sorted(rfs["sources"]) == [f"https://host/{name}" for name in names]
    assert [bool(entry.get("linked")) for entry in rfs["sources"].values()] == [False, True, True]


def test_a_file_of_a_set_that_is_not_there_reads_as_zero(path: Path) -> None:
    ome_set(path)
    path.with_name("other2.ome.tif").unlink()
    back = assert_same(path)
    assert back.converted()["/0"].startswith("1 of 3 pages are not there")
    assert not back["0"][2].any()


def test_a_set_outside_its_folder_is_refused(tmp_path: Path, path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    ome_set(path)
    text = path.read_bytes().replace(b'FileName="other1.ome.tif"', b'FileName="../ther1.ome.ti"')
    (inner / "file.tif").write_bytes(text)
    (tmp_path / "ther1.ome.ti").write_bytes(path.with_name("other1.ome.tif").read_bytes())
    with pytest.raises(UnsupportedError, match="outside its folder"):
        generate_rfs_tiff(inner / "file.tif")


def test_what_no_codec_decodes_is_copied_left_out_or_an_error(path: Path) -> None:
    tables_of_their_own(path)
    assert "values copied" in assert_same(path).converted()["/0"]
    with pytest.raises(
        UnsupportedError, match="nothing in it can be represented: its pages have JPEG tables"
    ):
        generate_rfs_tiff(path, on_unsupported="skip")
    with pytest.raises(UnsupportedError, match=r"file.tif: /0: its pages have JPEG tables"):
        generate_rfs_tiff(path, on_unsupported="error")
    with pytest.raises(UsageError, match="on_unsupported is 'never'"):
        generate_rfs_tiff(path, on_unsupported="never")


def test_the_rest_of_a_file_is_kept(path: Path) -> None:
    with tifffile.TiffWriter(path) as file:
        file.write(smooth(9, 11))
        file.write(smooth(100), tile=(16, 16))
    back = assert_same(path, ReadBack(path, on_unsupported="skip"), left_out=1)
    assert back.arrays() == ["0"]
    assert "is not made of pages" in back.skipped()["/1"]


def test_copies_have_a_limit(path: Path) -> None:
    with tifffile.TiffWriter(path) as file:
        file.write(smooth(9, 11))
        file.write(np.random.default_rng(0).integers(0, 2**16, 5000).astype("u2"), tile=(16, 16))
    back = ReadBack(path, inline_limit=1000)
    assert back.arrays() == ["0"]
    assert "inline_limit (1,000 bytes in all" in back.skipped()["/1"]
    assert ReadBack(path, inline_limit=12_000).arrays() == ["0", "1"]


def test_a_broken_chain_is_told(path: Path) -> None:
    broken_chain(path)
    back = assert_same(path)
    assert back["0"].shape == (3, 10, 12)
    assert back.skipped() == {
        "/page 3": "page directory 3 would be at byte 1,000,000, past the end of the file (710 bytes)"
    }
    with pytest.raises(UnsupportedError, match="page directory 3"):
        generate_rfs_tiff(path, on_unsupported="error")


def test_the_threshold_of_an_index(path: Path) -> None:
    tifffile.imwrite(path, smooth(64, 80), tile=(16, 16), compression="zlib")
    assert "indexes" not in generate_rfs_tiff(path)
    rfs = generate_rfs_tiff(path, chunk_index_threshold=19)
    assert rfs["indexes"]["0"]["index"].shape == (4, 5, 2)
    assert_same(path, ReadBack(path, chunk_index_threshold=19))
    assert "indexes" not in generate_rfs_tiff(path, chunk_index_threshold=None)


def test_what_is_no_tiff(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError):
        generate_rfs_tiff(tmp_path / "nothing.tif")
    with pytest.raises(NotTIFFError, match="directory"):
        generate_rfs_tiff(tmp_path)
    (tmp_path / "text.tif").write_bytes(b"hello")
    with pytest.raises(NotTIFFError, match=r"text.tif is not a TIFF file: it begins with b'hell'"):
        generate_rfs_tiff(tmp_path / "text.tif")


def test_a_file_that_changes_meanwhile(path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(path, image)

    def change(event: GenerationEvent) -> None:
        if event.stage == "datasets":
            with path.open("ab") as file:
                file.write(b"more")

    with pytest.raises(SourceChangedError, match="changed while"):
        generate_rfs_tiff(path, progress=change)


def test_progress_ends_with_the_totals(path: Path) -> None:
    tifffile.imwrite(path, smooth(4, 20, 30), photometric="minisblack")
    events: list[GenerationEvent] = []
    generate_rfs_tiff(path, progress=events.append)
    assert [event.stage for event in events] == ["open", "inventory", "datasets", "done"]
    assert (events[-1].objects, events[-1].chunks, events[-1].bytes) == (1, 4, 4 * 20 * 30 * 2)


def test_without_tifffile_the_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[tiff\]"):
        generate_rfs_tiff(path)


def test_what_tifffile_logs_is_not_shown(
    path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    path.write_bytes(write([Page({**gray(12, 10), 65000: (99, 1, b"x")}, [bytes(120)])]))
    generate_rfs_tiff(path)
    assert caplog.records == []
    assert capfd.readouterr().err == ""
    tifffile.TiffFile(path).close()
    assert len(caplog.records) == 1  # as it is after


def test_another_process_reads_our_codec(path: Path, tmp_path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(path, image, compression="lzw", rowsperstrip=16)
    rfs = generate_rfs_tiff(path)
    write_rfs(rfs, tmp_path / "refs.json")
    assert "shadowzarr.tiff_segment" in json.loads(rfs["refs"]["0/zarr.json"])["codecs"][0]["name"]
    refs = str(tmp_path / "refs.json")
    code = f"from shadowzarr import open_rfs; print(open_rfs({refs!r})['0'][44, 58:].tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(image[44, 58:].tolist())


@pytest.mark.parametrize("options", [{}, {"compression": "zstd", "tile": (16, 16)}, {"byteorder": ">"}])
def test_fsspec_reads_the_single_file(
    path: Path, tmp_path: Path, options: dict[str, object], image: np.ndarray
) -> None:
    pytest.importorskip("fsspec")
    import zarr

    tifffile.imwrite(path, np.stack([image, image + 1]), photometric="minisblack", **options)
    write_rfs(generate_rfs_tiff(path), tmp_path / "refs.json")
    storage: dict[str, object] = {"fo": str(tmp_path / "refs.json")}
    listed = zarr.open_group("reference://", mode="r", storage_options=storage)
    assert (listed["0"][...] == tifffile.imread(path)).all()


def test_short_strips_are_whole_in_the_single_file(
    path: Path, tmp_path: Path, check: Callable[..., ReadBack]
) -> None:
    pytest.importorskip("fsspec")
    import zarr

    rows = np.arange(120, dtype="u1").reshape(10, 12)
    parts = [rows[start : start + 4].tobytes() for start in (0, 4, 8)]
    page = Page({**gray(12, 10), 278: 4}, [part + b"??" for part in parts], counts=[48, 48, 24])
    back = check(write([page]))
    assert back.codecs() == ["bytes"]
    assert back.chunks()["2/0"][2] == 24
    write_rfs(back.rfs, tmp_path / "refs.json")
    storage = {"fo": str(tmp_path / "refs.json")}
    assert (zarr.open_group("reference://", mode="r", storage_options=storage)["0"][...] == rows).all()
