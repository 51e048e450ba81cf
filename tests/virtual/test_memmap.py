"""Memory maps and views of them: which bytes of the file they show."""

import tempfile

import numpy as np
import pytest

from shadowzarr.errors import UsageError
from shadowzarr.virtual import VirtualArray


@pytest.fixture
def path(tmp_path):
    """A file of 200 kB of noise, longer than the pages by which files are mapped."""
    path = tmp_path / "f"
    np.random.default_rng(0).integers(0, 256, 200_000, np.uint8).tofile(path)
    return path


VIEWS = {
    "all": lambda m: m,
    "rows": lambda m: m[7:40],
    "columns": lambda m: m[:, 1:5:2],
    "backwards": lambda m: m[::-1, ::-2],
    "transposed": lambda m: m.T[2:],
    "an axis of one": lambda m: m[:, None, :],
    "one row": lambda m: m[5],
    "one value": lambda m: m[5:6, 3:4],
    "reshaped": lambda m: m.reshape(-1, 3),
    "another type": lambda m: m.view(">i4"),
    "without its class": lambda m: m.view(np.ndarray)[3:],
    "as an array": lambda m: np.asarray(m)[:, 2],
    "nothing": lambda m: m[5:5],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("offset", [0, 3, 70_000])
def test_views(path, view, offset, read):
    mapped = np.memmap(path, "<i2", "r", offset, (500, 6))
    shown = VIEWS[view](mapped)
    found = read(VirtualArray.from_memmap(shown))
    np.testing.assert_array_equal(found, shown)


def test_fields_of_packets(path, read, built):
    packets = np.memmap(path, [("header", "u1", 13), ("samples", "<i2", 64)], "r", 1000, (1000,))
    array = VirtualArray.from_memmap(packets["samples"])
    assert built(array)["selections"] == {"a": {"record_size": 141, "keep": [[0, 128]]}}
    np.testing.assert_array_equal(read(array[:, [63, 0]]), packets["samples"][:, [63, 0]])


def test_fortran_order_is_turned(path, read, built):
    mapped = np.memmap(path, "<f4", "r", 0, (50, 8), order="F")
    rfs = built(VirtualArray.from_memmap(mapped))
    assert "selections" not in rfs
    assert '"transpose"' in rfs["refs"]["a/zarr.json"]
    assert read(VirtualArray.from_memmap(mapped)).tobytes() == np.asarray(mapped).tobytes()


def test_broadcast(path, read):
    mapped = np.memmap(path, "<i2", "r", 0, (6,))
    shown = np.broadcast_to(mapped, (4, 6))
    np.testing.assert_array_equal(read(VirtualArray.from_memmap(shown)), shown)


def test_the_file_may_be_elsewhere(path, built):
    mapped = np.memmap(path, "<i2", "r", 0, (6,))
    rfs = built(VirtualArray.from_memmap(mapped, url="https://h/f", attributes={"unit": "V"}))
    assert rfs["templates"] == {"u0": "https://h/f"}


def test_a_chunk_shape(path, read):
    mapped = np.memmap(path, "<i2", "r", 8, (500, 6))
    array = VirtualArray.from_memmap(mapped, chunk_shape=[100, 6])
    assert array.chunk_shape == (100, 6)
    np.testing.assert_array_equal(read(array), mapped)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: m + 1, "computed or copied"),
        (lambda m: np.array(m), "computed or copied"),
        (lambda m: m[[1, 2]], "computed or copied"),
        (lambda m: np.arange(5), "computed or copied"),
        (lambda m: [1, 2], "found a list"),
        (lambda m: m.view([("a", "<i2"), ("b", ">i2")]), "both byte orders"),
    ],
)
def test_what_shows_no_file(path, make, message):
    mapped = np.memmap(path, "<i2", "r", 0, (500, 6))
    with pytest.raises(UsageError, match=message):
        VirtualArray.from_memmap(make(mapped))


def test_a_file_without_a_name():
    with tempfile.TemporaryFile() as file:
        file.write(bytes(100))
        file.flush()
        mapped = np.memmap(file, "u1", "r")
        if isinstance(mapped.filename, str):
            pytest.skip("temporary files have names here")
        with pytest.raises(UsageError, match="without a name"):
            VirtualArray.from_memmap(mapped)
        assert VirtualArray.from_memmap(mapped, url="f").shape == (100,)
        del mapped
