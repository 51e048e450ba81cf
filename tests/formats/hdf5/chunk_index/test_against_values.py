"""Every chunk of the table, read at its place and decoded, is what h5py reads; the rest is fill value.

h5py's own list of chunks is no judge: values are.
"""

import ctypes
import itertools
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5d, h5f, h5p, h5s, h5t
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowzarr.formats.hdf5.chunk_table import ChunkTable
from shadowzarr.formats.hdf5.stored_file import stored_table
from shadowzarr.hdf5_types.hdf5_library import leaves_edges_unfiltered

FILL = -7
DONT_FILTER_PARTIAL_CHUNKS = 2
LIBVERS = ("earliest", "v108", "v110", "latest")


def check(path: Path, name: str = "d") -> ChunkTable:
    """Compare what the table says of a file with the dataset's values."""
    data = path.read_bytes()
    with h5py.File(path) as file:
        dataset = file[name]
        table = stored_table(dataset.id)
        assert table is not None
        values = dataset[...]
        read = assembled(data, table, dataset)
        np.testing.assert_array_equal(read, values)
        assert (np.diff(number_of(table, dataset)) > 0).all()  # in order, each once
    return table


def check_sparse(path: Path, numbers: list[int]) -> None:
    """The same for a long dataset of which only elements that hold their own number were written."""
    data = path.read_bytes()
    with h5py.File(path) as file:
        table = stored_table(file["d"].id)
    assert table is not None
    assert table.coordinates[:, 0].tolist() == numbers
    assert [int.from_bytes(data[at : at + 4], "little") for at in table.offsets.tolist()] == numbers


def assembled(data: bytes, table: ChunkTable, dataset: h5py.Dataset) -> np.ndarray:
    """The values of a dataset, from the bytes that its table names alone."""
    grid = tuple(-(-n // edge) for n, edge in zip(dataset.shape, dataset.chunks, strict=True))
    whole = np.full(np.multiply(grid, dataset.chunks), FILL, dataset.dtype)
    nbytes = int(np.prod(dataset.chunks)) * dataset.dtype.itemsize
    is_plain_at_edges = leaves_edges_unfiltered(dataset.id.get_create_plist())
    for row in range(len(table)):
        offset, length = int(table.offsets[row]), int(table.nbytes[row])
        stored = data[offset : offset + length]
        assert len(stored) == length
        start = table.coordinates[row] * dataset.chunks
        skips = is_plain_at_edges and (start + dataset.chunks > dataset.shape).any()
        decoded = stored if skips else undone(stored, dataset, int(table.filter_masks[row]))
        assert len(decoded) == nbytes
        places = tuple(slice(a, a + n) for a, n in zip(start, dataset.chunks, strict=True))
        whole[places] = np.frombuffer(decoded, dataset.dtype).reshape(dataset.chunks)
    return whole[tuple(map(slice, dataset.shape))]


def undone(stored: bytes, dataset: h5py.Dataset, mask: int) -> bytes:
    names = [*(["shuffle"] if dataset.shuffle else []), *(["gzip"] if dataset.compression else [])]
    for place in reversed(range(len(names))):
        if mask >> place & 1:
            continue
        if names[place] == "gzip":
            stored = zlib.decompress(stored)
        else:
            stored = np.frombuffer(stored, np.uint8).reshape(dataset.dtype.itemsize, -1).T.tobytes()
    return stored


def number_of(table: ChunkTable, dataset: h5py.Dataset) -> np.ndarray:
    grid = tuple(-(-n // edge) for n, edge in zip(dataset.shape, dataset.chunks, strict=True))
    return np.ravel_multi_index(tuple(table.coordinates.T), grid) if len(table) else np.zeros(0, int)


def write(file: h5py.File, shape: tuple[int, ...], values: Any = None, **options: Any) -> h5py.Dataset:
    dataset = file.create_dataset("d", shape, "<i4", fillvalue=FILL, **options)
    dataset[...] = np.arange(np.prod(shape)).reshape(shape) if values is None else values
    return dataset


FILTERS = ({}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True})


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_all_axes_limited_or_not(path: Path, rank: int, libver: str) -> None:
    shape, edges = (5, 4, 3, 4)[:rank], (2, 1, 2, 3)[:rank]
    for case, limits in enumerate(itertools.product((0, 3, None) if rank < 4 else (1, None), repeat=rank)):
        maxshape = tuple(None if more is None else n + more for n, more in zip(shape, limits, strict=True))
        with h5py.File(path, "w", libver=libver, userblock_size=1024 * (case % 2)) as file:
            options = FILTERS[case % len(FILTERS)]
            write(file, shape, chunks=edges, maxshape=maxshape, **options)
        assert len(check(path)) == np.prod([-(-n // e) for n, e in zip(shape, edges, strict=True)])


@pytest.mark.parametrize("sizes", [(4, 4), (4, 8), (8, 4), (8, 8), (2, 8)])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_sizes_of_addresses_and_lengths(path: Path, sizes: tuple[int, int], libver: str) -> None:
    cases = itertools.product(((40, 6), (None, 6), (40, None), (None, None)), FILTERS)
    for maxshape, options in cases:
        if libver == "latest" and sizes[1] < 8 and None in maxshape:
            continue  # HDF5 itself cannot open such a dataset
        created, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
        created.set_sizes(*sizes)
        if libver == "latest":
            access.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)
        with h5py.File(h5f.create(bytes(path), h5f.ACC_TRUNC, created, access)) as file:
            write(file, (40, 6), chunks=(1, 4), maxshape=maxshape, **options)
        assert len(check(path)) == 80


@pytest.mark.parametrize("half", [8, 32, 100])
@pytest.mark.parametrize("libver", [h5f.LIBVER_EARLIEST, h5f.LIBVER_V18], ids=["superblock", "extension"])
def test_nodes_of_other_sizes(path: Path, libver: int, half: int) -> None:
    """How many children a B-tree node has is said in the superblock, or in its extension."""
    created, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(libver, h5f.LIBVER_V18)
    set_half = ctypes.CDLL(h5p.__file__).H5Pset_istore_k
    set_half.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert set_half(created.id, half) >= 0
    with h5py.File(h5f.create(bytes(path), h5f.ACC_TRUNC, created, access)) as file:
        write(file, (400, 2), chunks=(1, 2), maxshape=(None, 2))
    assert len(check(path)) == 400


@pytest.mark.parametrize("options", FILTERS, ids=["plain", "gzip", "gzip, shuffle"])
@pytest.mark.parametrize("count", [1, 4, 5, 20, 84, 6000])
@pytest.mark.parametrize(
    ("libver", "maxshape"),
    [("earliest", (None, 4)), ("latest", (6000, 4)), ("latest", (None, 4)), ("latest", (None, None))],
    ids=["v1 B-tree", "fixed array", "extensible array", "v2 B-tree"],
)
def test_few_and_many_chunks(
    path: Path, libver: str, maxshape: tuple[int | None, ...], count: int, options: dict[str, Any]
) -> None:
    with h5py.File(path, "w", libver=libver, rdcc_nbytes=0) as file:
        write(file, (count, 4), chunks=(1, 4), maxshape=maxshape, **options)
    assert len(check(path)) == count


@pytest.mark.parametrize("number", [0, 3, 4, 19, 20, 131_059, 131_060, 131_900, 200_000, 524_275, 700_000])
@pytest.mark.parametrize("maxshape", [(1_000_000,), (None,)], ids=["fixed", "extensible"])
def test_one_chunk_far_along_an_array(path: Path, maxshape: tuple[int | None], number: int) -> None:
    """Super blocks and pages that are there among others that are not."""
    with h5py.File(path, "w", libver="latest") as file:
        dataset = file.create_dataset("d", (800_000,), "<i4", chunks=(1,), maxshape=maxshape, fillvalue=FILL)
        dataset[number] = number
        dataset[number // 2] = number // 2
    check_sparse(path, sorted({number, number // 2}))


def test_many_pages_of_an_extensible_array(path: Path) -> None:
    """Data blocks of several pages of which every other one is there."""
    wanted = np.arange(131_060, 600_000, 1500)
    with h5py.File(path, "w", libver="latest") as file:
        dataset = file.create_dataset("d", (600_000,), "<i4", chunks=(1,), maxshape=(None,), fillvalue=FILL)
        for number in wanted.tolist():
            dataset[number] = number
    check_sparse(path, wanted.tolist())


@pytest.mark.parametrize("options", FILTERS, ids=["plain", "gzip", "gzip, shuffle"])
@pytest.mark.parametrize("libver", LIBVERS)
def test_a_single_chunk(path: Path, libver: str, options: dict[str, Any]) -> None:
    with h5py.File(path, "w", libver=libver) as file:
        write(file, (3, 4), chunks=(3, 4), **options)
    assert len(check(path)) == 1


@pytest.mark.parametrize("more", [0, 7])
@pytest.mark.parametrize("shape", [(12,), (5, 7), (3, 4, 5)])
def test_an_implicit_index(path: Path, shape: tuple[int, ...], more: int) -> None:
    edges = (2, 3, 2)[: len(shape)]
    with h5py.File(path, "w", libver="latest") as file:
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk(edges)
        properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        properties.set_fill_value(np.array(FILL, "<i4"))
        space = h5s.create_simple(shape, tuple(n + more for n in shape))
        made = h5py.Dataset(h5d.create(file.id, b"d", h5t.STD_I32LE, space, properties))
        made[...] = np.arange(np.prod(shape)).reshape(shape)
    assert len(check(path)) == np.prod([-(-n // e) for n, e in zip(shape, edges, strict=True)])


@pytest.mark.parametrize("libver", LIBVERS)
def test_chunks_that_skipped_filters(path: Path, libver: str) -> None:
    for maxshape in ((40, 4), (None, 4), (None, None)):
        with h5py.File(path, "w", libver=libver) as file:
            made = write(file, (40, 4), chunks=(1, 4), maxshape=maxshape, compression="gzip", shuffle=True)
            raw = np.arange(4, dtype="<i4")
            made.id.write_direct_chunk((7, 0), raw.tobytes(), filter_mask=3)
            made.id.write_direct_chunk((9, 0), zlib.compress(raw.tobytes()), filter_mask=1)
        table = check(path)
        assert Counter(table.filter_masks.tolist()) == {0: 38, 3: 1, 1: 1}


@pytest.mark.parametrize("libver", ["v110", "latest"])
@pytest.mark.parametrize("maxshape", [(70, 50), (None, 50), (None, None)])
def test_edges_that_skip_filters(path: Path, libver: str, maxshape: tuple[int | None, ...]) -> None:
    """How many bytes are stored is in the index; that they did not go through filters is not."""
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((30, 20))
    properties.set_deflate(4)
    properties.set_fill_value(np.array(FILL, "<i4"))
    set_options = ctypes.CDLL(h5p.__file__).H5Pset_chunk_opts
    set_options.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert set_options(properties.id, DONT_FILTER_PARTIAL_CHUNKS) >= 0
    with h5py.File(path, "w", libver=libver) as file:
        space = h5s.create_simple((70, 50), tuple(h5s.UNLIMITED if n is None else n for n in maxshape))
        made = h5py.Dataset(h5d.create(file.id, b"d", h5t.STD_I32LE, space, properties))
        made[...] = np.arange(3500).reshape(70, 50)
    table = check(path)
    assert (table.nbytes[[2, 5, 6, 7, 8]] == 2400).all()
    assert (table.nbytes[[0, 1, 3, 4]] < 2400).all()


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("maxshape", [(90, 90), (None, 90), (90, None), (None, None)])
def test_random_changes(path: Path, libver: str, maxshape: tuple[int | None, ...]) -> None:
    @settings(max_examples=25, deadline=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        options = data.draw(st.sampled_from(FILTERS))
        edges = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
        with h5py.File(path, "w", libver=libver) as file:
            made = file.create_dataset(
                "d", (40, 30), "<i4", chunks=edges, maxshape=maxshape, fillvalue=FILL, **options
            )
            for _ in range(data.draw(st.integers(0, 8))):
                if data.draw(st.booleans()):
                    made.resize(data.draw(st.tuples(st.integers(1, 90), st.integers(1, 90))))
                row, column = (data.draw(st.integers(0, n - 1)) for n in made.shape)
                height, width = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 40)))
                made[row : row + height, column : column + width] = data.draw(st.integers(0, 10**6))
        check(path)

    run()


def test_datasets_without_chunks(path: Path) -> None:
    for libver, maxshape in itertools.product(LIBVERS, ((9,), (None,))):
        with h5py.File(path, "w", libver=libver) as file:
            file.create_dataset("d", (9,), "<i4", chunks=(2,), maxshape=maxshape, fillvalue=FILL)
            file.create_dataset("none", (0,), "<i4", chunks=(2,), maxshape=(None,))
        assert len(check(path)) == 0
        assert len(check(path, "none")) == 0
