import datetime
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from tiff_by_hand import Page, gray, write
from tiff_features import pyramid, smooth
from tiff_reading import ReadBack

from shadowzarr.formats.tiff.attributes import (
    MOST_PART,
    MOST_TEXT,
    Attributes,
    dimension_names,
    json_value,
    multiscales,
)


def test_what_the_root_says(path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(
        path, image, byteorder=">", bigtiff=True, software="writer", datetime=datetime.datetime(2026, 11, 30)
    )
    assert ReadBack(path).attributes()["tiff"] == {
        "byteorder": "big",
        "bigtiff": True,
        "software": "writer",
        "datetime": "2026-11-30T00:00:00",
    }


def test_what_an_array_says(path: Path, image: np.ndarray) -> None:
    tifffile.imwrite(
        path,
        image,
        metadata=None,
        description="a cell",
        resolution=(20000, 10000),
        resolutionunit="CENTIMETER",
        compression="lzw",
        predictor=True,
        rowsperstrip=45,
    )
    attributes = ReadBack(path).attributes("0")
    assert attributes["tiff"] == {
        "kind": "uniform",
        "axes": "YX",
        "compression": "LZW",
        "photometric": "minisblack",
        "bits_per_sample": 16,
        "predictor": "horizontal",
        "resolution": {"x": 20000.0, "y": 10000.0, "unit": "centimeter"},
        "description": "a cell",
    }
    assert attributes["scale"] == pytest.approx({"x": 1 / 20000, "y": 1 / 10000})
    assert attributes["units"] == {"x": "centimeter", "y": "centimeter"}


def test_a_palette_is_kept(path: Path) -> None:
    colours = np.arange(768, dtype="u2").reshape(3, 256)
    tifffile.imwrite(path, smooth(10, 12, dtype="u1"), photometric="palette", colormap=colours)
    assert ReadBack(path).attributes("0")["tiff"]["colormap"] == colours.tolist()


def test_imagej(path: Path) -> None:
    metadata = {
        "spacing": 2.0,
        "unit": "um",
        "finterval": 0.5,
        "Labels": ["a", "b", "c"],
        "Info": "x" * MOST_PART,
    }
    tifffile.imwrite(path, smooth(3, 4, 1, 20, 30), imagej=True, resolution=(5, 5), metadata=metadata)
    back = ReadBack(path)
    told = back.attributes()["imagej"]
    assert (told["spacing"], told["unit"], told["Labels"]) == (2.0, "um", ["a", "b", "c"])
    assert list(back.skipped()) == ["/@imagej.Info"]
    assert back.attributes("0")["scale"] == pytest.approx({"x": 0.2, "y": 0.2, "z": 2.0, "t": 0.5})
    assert back.attributes("0")["units"]["z"] == "micrometer"


def test_ome(path: Path) -> None:
    metadata = {"axes": "CYX", "PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.5}
    tifffile.imwrite(path, smooth(2, 20, 30), ome=True, metadata=metadata)
    back = ReadBack(path)
    with tifffile.TiffFile(path) as tif:
        assert back.attributes()["ome_xml"] == tif.ome_metadata
    assert back.attributes("0")["scale"] == pytest.approx({"x": 0.25, "y": 0.5})
    assert back.metadata("0")["dimension_names"] == ["c", "y", "x"]


def test_ome_metadata_that_are_too_large_are_named(path: Path) -> None:
    description = "x" * (MOST_TEXT + 1)
    tifffile.imwrite(path, smooth(20, 30), ome=True, metadata={"axes": "YX", "Description": description})
    back = ReadBack(path)
    assert "ome_xml" not in back.attributes()
    assert "attributes hold up to 1,048,576" in back.skipped()["/@ome_xml"]


def test_scanimage(path: Path) -> None:
    text = "frames = 1\nscanimage.SI.VERSION = 5\n"
    path.write_bytes(write([Page({**gray(12, 10), 270: text, 305: "SI.x"}, [bytes(120)])]))
    assert ReadBack(path).attributes()["tiff"]["software"] == "SI.x"


def test_a_pyramid_says_what_ome_zarr_says(path: Path) -> None:
    pyramid(reduced=False)(path)
    about = ReadBack(path).attributes("0")["ome"]
    (scales,) = about["multiscales"]
    assert about["version"] == "0.5"
    assert scales["axes"] == [
        {"name": "c", "type": "channel"},
        {"name": "y", "type": "space"},
        {"name": "x", "type": "space"},
    ]
    assert [each["path"] for each in scales["datasets"]] == ["0", "1", "2"]
    steps = [each["coordinateTransformations"][0]["scale"] for each in scales["datasets"]]
    assert steps == [[1.0, 1.0, 0.5], [1.0, 2.0, 1.0], [1.0, 4.0, 2.0]]


@pytest.mark.parametrize("dims", ["YXS", "QYX", "CTYX", "YZ", "XY"])
def test_axes_that_ome_zarr_does_not_have(dims: str) -> None:
    level = SimpleNamespace(dims=tuple(dims), shape=(4,) * len(dims), coord_scales={}, coord_units={})
    assert multiscales({"0": level}, "name") is None


def test_names_of_dimensions() -> None:
    assert dimension_names(SimpleNamespace(dims=("Q", "Q2", "Y", "X"))) == ["q", "q2", "y", "x"]
    assert dimension_names(SimpleNamespace(dims=("Q", "q", "X"))) == ["Q", "q", "X"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.uint16(5), 5),
        (np.array([[1.5, 2.0]]), [[1.5, 2.0]]),
        (tifffile.PHOTOMETRIC.RGB, "RGB"),
        ({1: (2, 3)}, {"1": [2, 3]}),
        (1 + 2j, [1.0, 2.0]),
        (datetime.date(2026, 11, 30), "2026-11-30"),
        (np.datetime64("2026-11-30"), "2026-11-30"),
        (b"raw", b"raw"),
        (Path("a"), "a"),
        (None, None),
        (True, True),
    ],
)
def test_values_become_json(value: object, expected: object) -> None:
    assert json_value(value) == expected
    assert type(json_value(value)) is type(expected)


def test_large_entries_are_left_out_by_name() -> None:
    found = Attributes()
    found.add_parts("lsm", {"small": 1, "large": "x" * (MOST_PART + 1)})
    found.add("nothing", None)
    found.add("empty", {})
    assert found.values == {"lsm": {"small": 1}}
    assert list(found.skipped) == ["lsm.large"]


def test_numbers_that_json_lacks_and_bytes_are_written(path: Path) -> None:
    tifffile.imwrite(path, smooth(20, 30), imagej=True, metadata={"min": float("nan"), "ROI": b"abc"})
    back = ReadBack(path)
    assert json.loads(back.rfs["refs"]["zarr.json"])["attributes"]["imagej"]
    assert np.isnan(back.attributes()["imagej"]["min"])
    assert back.attributes()["imagej"]["ROI"] == b"abc"
