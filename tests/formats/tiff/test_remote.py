from pathlib import Path

import numpy as np
import pytest
import tifffile
from tiff_features import ome_set, ome_xml, smooth, tables_of_their_own
from tiff_reading import ReadBack, assert_same

from shadowzarr.errors import (
    NotTIFFError,
    ReadError,
    SourceChangedError,
    SourceNotFoundError,
    UnsupportedError,
)
from shadowzarr.formats.progress import GenerationEvent
from shadowzarr.formats.tiff.generate import generate_rfs_tiff
from shadowzarr.testing.faults import Fault
from shadowzarr.testing.range_server import RangeServer


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"byteorder": ">"},
        {"compression": "zlib", "tile": (16, 16), "bigtiff": True},
        {"compression": "lzw", "rowsperstrip": 7, "predictor": True},
        {"ome": True},
        {"imagej": True},
    ],
)
def test_a_url(path: Path, options: dict[str, object]) -> None:
    tifffile.imwrite(path, smooth(5, 20, 30), photometric="minisblack", **options)
    events: list[GenerationEvent] = []
    with RangeServer(path.parent) as server:
        url = server.url(path.name)
        back = ReadBack(url, progress=events.append)
        assert_same(path, back)
    assert back.rfs["sources"][url]["size"] == path.stat().st_size
    assert back.rfs["sources"][url]["etag"].startswith('"')
    assert 0 < events[-1].requests <= 3


def test_values_are_copied_from_a_url_in_any_byte_order(path: Path) -> None:
    tifffile.imwrite(path, smooth(100), tile=(16, 16), byteorder=">")
    with RangeServer(path.parent) as server:
        back = assert_same(path, ReadBack(server.url(path.name)))
    assert back.converted()
    tables_of_their_own(path)
    with RangeServer(path.parent) as server:
        assert assert_same(path, ReadBack(server.url(path.name))).converted()


def test_directories_of_a_stack_are_read_in_parallel(path: Path) -> None:
    with tifffile.TiffWriter(path) as file:
        for number in range(60):
            file.write(np.full((300, 300), number, "u2"), metadata=None, contiguous=False)
    with RangeServer(path.parent, latency=0.01) as server:
        rfs = generate_rfs_tiff(server.url(path.name))
        in_flight, requests = server.log.max_in_flight, server.log.count()
    assert len(rfs["gen"]) == 1
    assert in_flight > 8
    assert requests <= 70


def test_what_is_not_there_or_not_a_tiff(tmp_path: Path) -> None:
    (tmp_path / "text.tif").write_bytes(b"hello")
    (tmp_path / "empty.tif").write_bytes(b"")
    with RangeServer(tmp_path) as server:
        with pytest.raises(SourceNotFoundError):
            generate_rfs_tiff(server.url("nothing.tif"))
        with pytest.raises(NotTIFFError):
            generate_rfs_tiff(server.url("text.tif"))
        with pytest.raises((NotTIFFError, ReadError)):
            generate_rfs_tiff(server.url("empty.tif"))


def test_a_server_that_fails_is_no_damage_of_the_file(path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (2000, 900)).astype("u1")
    tifffile.imwrite(path, noise, compression="zlib", tile=(64, 64))
    with RangeServer(path.parent) as server:
        server.faults.add(Fault(path="*.tif", status=403, after=1))
        with pytest.raises(ReadError):
            generate_rfs_tiff(server.url(path.name))


def test_a_file_that_is_replaced(path: Path) -> None:
    tifffile.imwrite(
        path, np.random.default_rng(0).integers(0, 255, (900, 900)).astype("u1"), compression="zlib"
    )

    with RangeServer(path.parent) as server:

        def replace(event: GenerationEvent) -> None:
            if event.stage == "open":
                values = np.random.default_rng(1).integers(0, 255, (950, 900)).astype("u1")
                tifffile.imwrite(path, values, compression="zlib")

        with pytest.raises(SourceChangedError):
            generate_rfs_tiff(server.url(path.name), progress=replace)


@pytest.mark.parametrize("other", [{}, {"compression": "zlib"}, {"byteorder": ">"}])
def test_a_set_of_several_files_at_a_url(path: Path, other: dict[str, object]) -> None:
    """tifffile joins files of a folder only; at a URL it shows the planes of the others as 0."""
    ome_set(path, other=other)
    with RangeServer(path.parent) as server:
        back = assert_same(path, ReadBack(server.url(path.name)))
        assert sorted(back.rfs["sources"]) == sorted(
            server.url(name) for name in (path.name, "other1.ome.tif", "other2.ome.tif")
        )
    assert bool(back.converted()) == bool(other)


def test_a_file_of_a_set_that_is_not_at_its_url_reads_as_zero(path: Path) -> None:
    ome_set(path)
    path.with_name("other1.ome.tif").unlink()
    with RangeServer(path.parent) as server:
        back = assert_same(path, ReadBack(server.url(path.name)))
    assert back.converted()["/0"].startswith("1 of 3 pages are not there")


def test_a_set_is_read_from_any_of_its_files(path: Path) -> None:
    ome_set(path)
    other = path.with_name("other2.ome.tif")
    with RangeServer(path.parent) as server:
        assert_same(other, ReadBack(server.url(other.name)))


@pytest.mark.parametrize("name", ["../b.tif", "http://h/b.tif", "/b.tif", "sub/../../b.tif", "..\\b.tif"])
def test_a_set_is_never_looked_for_elsewhere(path: Path, name: str) -> None:
    tifffile.imwrite(path, smooth(20, 30), description=ome_xml([path.name, name], 0), metadata=None)
    with RangeServer(path.parent) as server:
        with pytest.raises(UnsupportedError, match="outside its folder"):
            generate_rfs_tiff(server.url(path.name))
        assert server.log.count() == server.log.count(f"*{path.name}") > 0


def test_a_set_whose_files_hold_different_images_is_refused(path: Path) -> None:
    """tifffile shows the images that a file has planes of, so that they cannot be told apart by number."""
    names = [path.name, "other1.ome.tif"]
    for number, name in enumerate(names):
        xml = ome_xml(names[:1], number)
        image = xml[xml.index("<Image") : xml.index("</OME>")]
        second = image.replace(names[0], names[1]).replace("000</UUID>", "001</UUID>")
        description = xml.replace(image, image + second)
        tifffile.imwrite(path.with_name(name), smooth(20, 30), description=description, metadata=None)
    assert ReadBack(path).arrays() == ["0", "1"]
    with (
        RangeServer(path.parent) as server,
        pytest.raises(UnsupportedError, match="some hold no plane of an image.*with url_for"),
    ):
        generate_rfs_tiff(server.url(path.name))


def test_references_to_where_the_files_will_be(path: Path) -> None:
    ome_set(path)
    with RangeServer(path.parent) as server:
        back = ReadBack(path, url_for=lambda file: server.url(Path(file).name))
        assert_same(path, back)
        assert server.log.count() > 0


def test_values_of_uncompressed_pages_are_not_read(path: Path) -> None:
    with tifffile.TiffWriter(path) as file:
        for number in range(6):
            file.write(np.full((1000, 900), number, "u2"), metadata=None, contiguous=False)
    events: list[GenerationEvent] = []
    with RangeServer(path.parent) as server:
        generate_rfs_tiff(server.url(path.name), progress=events.append)
    assert events[-1].bytes_read < path.stat().st_size / 10
