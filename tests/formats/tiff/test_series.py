import concurrent.futures
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from tiff_by_hand import Page, gray, write
from tiff_features import ome_set, ome_xml, smooth
from tiff_reading import ReadBack, assert_same

from shadowzarr.formats.tiff import series


def test_a_large_page_is_cut_into_slabs(path: Path) -> None:
    values = np.arange(2500 * 2100, dtype="u4").reshape(2500, 2100).astype("u1")
    tifffile.imwrite(path, values)
    back = ReadBack(path)
    assert back.chunk_shape() == [1250, 2100]
    assert back.root["0"][1248:1252, 7].tolist() == values[1248:1252, 7].tolist()


def test_the_last_slab_may_be_short(path: Path) -> None:
    values = np.arange(2503 * 2100, dtype="u4").reshape(2503, 2100).astype("u1")
    tifffile.imwrite(path, values)
    back = ReadBack(path)
    assert 2503 % back.chunk_shape()[0]
    assert back.root["0"][2490:, 2099].tolist() == values[2490:, 2099].tolist()


def test_slabs_of_planes_and_pages(path: Path) -> None:
    values = np.zeros((2, 3, 1500, 2000), "u2")
    values[1, 2, 1499] = 5
    tifffile.imwrite(path, values, photometric="rgb", planarconfig="separate")
    back = ReadBack(path)
    assert back.chunk_shape() == [1, 1, 750, 2000]
    assert len(back.rfs["gen"]) == 1
    assert back.root["0"][1, 2, 1498:, 3].tolist() == [0, 5]


def test_segments_too_large_to_be_tried_use_codecs_that_need_no_trial(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "MOST_TRIED", 1000)
    for compression, codecs in (
        ("zlib", ["bytes", "numcodecs.zlib"]),
        ("lzw", ["shadowzarr.tiff_segment"]),
    ):
        tifffile.imwrite(path, smooth(48, 60), compression=compression, rowsperstrip=16)
        assert assert_same(path).codecs() == codecs


def test_values_that_no_codec_gives_are_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "gives_same", lambda *_: False)
    tifffile.imwrite(path, smooth(48, 60), compression="lzw", rowsperstrip=16)
    reason = "values copied: no codec decodes it as tifffile does (LZW, 16 bits, predictor 1)"
    assert assert_same(path).converted() == {"/0": reason}


def test_missing_pages_are_zero_and_missing_parts_of_pages_are_not(path: Path) -> None:
    """The array has one fill value, so that its values are copied when there are both."""
    names = [path.name, "other.ome.tif"]
    tile = smooth(16, 16, dtype="u1").tobytes()
    places = {"offsets": [8, 0], "counts": [256, 0]}
    xml = ome_xml(names, 0).replace('SizeY="20"', 'SizeY="16"').replace("uint16", "uint8")
    tags = {**gray(30, 16), 322: 16, 323: 16, 270: xml}
    path.write_bytes(write([Page({**tags, 42113: "7"}, [tile], **places)]))
    assert "missing pages of it read as 0" in assert_same(path).converted()["/0"]
    path.write_bytes(write([Page(tags, [tile], **places)]))
    assert "1 of 2 pages are not there" in assert_same(path).converted()["/0"]


def test_missing_data_that_are_no_number(check: Callable[..., ReadBack]) -> None:
    tags = {**gray(12, 10, 32), 339: 3, 278: 5, 42113: "nan"}
    values = np.arange(60, dtype="<f4").tobytes()
    back = check(write([Page(tags, [values], offsets=[8, 0], counts=[240, 0])]))
    assert back.metadata("0")["fill_value"] == "NaN"
    assert np.isnan(back["0"][5:]).all()


def test_a_scalar(path: Path) -> None:
    tifffile.imwrite(path, np.array(5.5))
    assert assert_same(path)["0"].shape == ()


@pytest.mark.parametrize("compression", ["jpeg", "jpegxl", "jpegxr", "webp", "jpeg2000"])
def test_lossy_values_are_the_same_in_every_read(path: Path, compression: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (2, 64, 64, 3)).astype("u1")
    quality = {"level": 60, **({"lossless": False} if compression == "webp" else {})}
    options = {"compression": compression, "compressionargs": quality, "tile": (32, 32)}
    tifffile.imwrite(path, noise, photometric="rgb", **options)
    back = assert_same(path)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        reads = list(pool.map(lambda _: back["0"].tobytes(), range(8)))
    assert len(set(reads)) == 1
    assert tifffile.imread(path, maxworkers=4).tobytes() == reads[0]
    assert reads[0] != noise.tobytes()


def test_a_set_in_a_folder_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    ome_set(tmp_path / "real" / "file.tif")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    asked: list[str] = []

    def url_for(file: str) -> str:
        asked.append(file)
        return f"https://host/{Path(file).name}"

    ReadBack(tmp_path / "link" / "file.tif", url_for=url_for)
    assert {str(Path(file).parent) for file in asked} == {str(tmp_path / "link")}
    assert len(asked) == 3
