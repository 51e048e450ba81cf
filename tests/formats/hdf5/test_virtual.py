"""Virtual datasets refer to the chunks of their sources, and show what h5py shows by local path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5p, h5s
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowzarr.formats.hdf5.chunk_grid import is_one_piece
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.verify import verify_rfs

CHUNKED = {"chunks": (10, 20), "compression": "gzip", "shuffle": True}


def source(path: Path, name: str, seed: int = 0, shape: tuple = (40, 60), **options: Any) -> np.ndarray:
    data = np.random.default_rng(seed).integers(0, 1000, shape).astype(options.pop("dtype", "<i4"))
    with h5py.File(path.with_name(name), "w") as f:
        f.create_dataset("d", data=data, **options)
    return data


def virtual(
    path: Path, shape: tuple, parts: list, fill: Any = -1, dtype: str = "<i4", **options: Any
) -> None:
    """A virtual dataset: ``(where it goes, file, shape of the source, what is taken of it)``."""
    layout = h5py.VirtualLayout(shape, dtype, **options)
    for place, name, extent, taken in parts:
        layout[place] = h5py.VirtualSource(name, "d", extent, dtype=dtype)[taken]
    with h5py.File(path, "a") as f:
        f.create_virtual_dataset("v", layout, fillvalue=fill)


def check(path: Path, made: Any, *, inline: bool) -> np.ndarray:
    """Compare with h5py, and say whether the chunks are references."""
    with h5py.File(path) as f:
        wanted = f["v"][...]
    assert made["v"].dtype == wanted.dtype
    assert made["v"].tobytes() == wanted.tobytes()
    assert made.is_inline("v") == inline, made.converted()
    assert verify_rfs(made.rfs, mode="full").equal
    return wanted


ALL = np.s_[:]
WHOLE = (40, 60)


@pytest.mark.parametrize(
    ("shape", "parts", "chunks"),
    [
        ((80, 60), [(np.s_[:40], "a.h5", ALL), (np.s_[40:], "b.h5", ALL)], (10, 20)),
        ((40, 100), [(np.s_[:, :60], "a.h5", ALL), (np.s_[:, 60:], "b.h5", np.s_[:, :40])], (10, 20)),
        ((3, 40, 60), [(0, "a.h5", ALL), (2, "b.h5", ALL)], (1, 10, 20)),
        ((35, 50), [(ALL, "a.h5", np.s_[:35, 10:60])], None),
        ((35, 50), [(ALL, "a.h5", np.s_[:35, :50])], (10, 20)),
        ((40, 60), [(np.s_[5:25], "a.h5", np.s_[:20])], None),
        ((60, 60), [(np.s_[:20], "a.h5", np.s_[20:]), (np.s_[40:], "a.h5", np.s_[:20])], (10, 20)),
        ((40, 60), [(np.s_[:20], "a.h5", np.s_[:20]), (np.s_[10:40], "b.h5", np.s_[:30])], None),
        ((20, 60), [(ALL, "a.h5", np.s_[::2])], None),
    ],
)
def test_chunked_sources(path: Path, generate: Callable, shape: tuple, parts: list, chunks: Any) -> None:
    for number, name in enumerate(("a.h5", "b.h5")):
        source(path, name, number, WHOLE, **CHUNKED)
    virtual(path, shape, [(place, name, WHOLE, taken) for place, name, taken in parts])
    made = generate()
    check(path, made, inline=chunks is None)
    if chunks is not None:
        assert made.root["v"].chunks == chunks
        assert made.codecs("v") == ["bytes", "numcodecs.shuffle", "numcodecs.zlib"]
        names = {name for _, name, _ in parts}
        assert {Path(url).name for url, entry in made.rfs["sources"].items() if "linked" in entry} == names


@pytest.mark.parametrize(
    ("shape", "parts", "chunks"),
    [
        ((80, 60), [(np.s_[:40], "a.h5", ALL), (np.s_[40:], "b.h5", ALL)], (40, 60)),
        ((2, 40, 60), [(0, "a.h5", ALL), (1, "b.h5", ALL)], (1, 40, 60)),
        ((40, 120), [(np.s_[:, :60], "a.h5", ALL), (np.s_[:, 60:], "b.h5", ALL)], (40, 60)),
        ((80, 60), [(np.s_[::2], "a.h5", ALL), (np.s_[1::2], "b.h5", ALL)], (1, 60)),
        ((70, 60), [(np.s_[:30], "a.h5", np.s_[7:37]), (np.s_[30:], "b.h5", ALL)], (30, 60)),
        ((40, 30), [(ALL, "a.h5", np.s_[:, 30:])], (1, 30)),
        ((40, 2), [(np.s_[:, 0], "a.h5", np.s_[:, 3]), (np.s_[:, 1], "b.h5", np.s_[:, 3])], (1, 1)),
    ],
)
def test_sources_in_one_piece(
    path: Path, generate: Callable, shape: tuple, parts: list, chunks: tuple
) -> None:
    for number, name in enumerate(("a.h5", "b.h5")):
        source(path, name, number, WHOLE)
    virtual(path, shape, [(place, name, WHOLE, taken) for place, name, taken in parts])
    made = generate()
    check(path, made, inline=False)
    assert made.root["v"].chunks == chunks


def test_large_pieces_are_cut(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, (1000, 60))
    virtual(path, (1000, 60), [(ALL, "a.h5", (1000, 60), ALL)])
    made = generate(contiguous_chunk_bytes=20_000)
    check(path, made, inline=False)
    assert made.root["v"].chunks == (50, 60)


def test_chunked_and_whole_sources_together(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, WHOLE, chunks=(10, 60))
    source(path, "b.h5", 1, WHOLE)
    virtual(path, (80, 60), [(np.s_[:40], "a.h5", WHOLE, ALL), (np.s_[40:], "b.h5", WHOLE, ALL)])
    made = generate()
    check(path, made, inline=False)
    assert made.root["v"].chunks == (10, 60)


def test_what_is_missing_is_fill_value(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, WHOLE, **CHUNKED)
    parts = [(np.s_[:40], "a.h5", WHOLE, ALL), (np.s_[40:80], "none.h5", WHOLE, ALL)]
    virtual(path, (100, 60), parts)
    made = generate()
    shown = check(path, made, inline=False)
    assert set(shown[40:].ravel().tolist()) == {-1}


def test_a_source_smaller_than_what_is_taken_of_it_is_copied(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, (30, 60), **CHUNKED)
    virtual(path, WHOLE, [(ALL, "a.h5", WHOLE, ALL)])
    shown = check(path, generate(), inline=True)
    assert set(shown[30:].ravel().tolist()) == {0}  # the fill value of the source


def test_nothing_but_missing_sources_costs_nothing(path: Path, generate: Callable) -> None:
    virtual(path, (2**20, 2**20), [(ALL, "none.h5", (2**20, 2**20), ALL)])
    made = generate()
    assert made.chunks("v") == {}
    assert made.root["v"][5, 5] == -1
    assert made.converted() == {}


@pytest.mark.parametrize("fill", [-1, 7])
def test_chunks_that_a_source_lacks_show_the_fill_value_of_the_source(
    path: Path, generate: Callable, fill: int
) -> None:
    with h5py.File(path.with_name("a.h5"), "w") as f:
        d = f.create_dataset("d", WHOLE, "<i4", fillvalue=7, **CHUNKED)
        d[:10, :20] = 3
    virtual(path, WHOLE, [(ALL, "a.h5", WHOLE, ALL)], fill=fill)
    made = generate()
    check(path, made, inline=False)
    assert sum(isinstance(value, str) for value in made.chunks("v").values()) == (0 if fill == 7 else 11)


def test_chunks_with_other_filter_masks(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, WHOLE, **CHUNKED)
    with h5py.File(path.with_name("a.h5"), "a") as f:
        f["d"].id.write_direct_chunk((0, 20), np.arange(200, dtype="<i4").tobytes(), 0b11)
    virtual(path, WHOLE, [(ALL, "a.h5", WHOLE, ALL)])
    made = generate()
    check(path, made, inline=False)
    assert isinstance(made.chunks("v")["0/1"], str)


@pytest.mark.parametrize(
    "change",
    [{"dtype": "<i8"}, {"dtype": ">i4"}, {"compression": "gzip", "chunks": (10, 20)}, {"chunks": (20, 20)}],
)
def test_sources_that_do_not_fit_are_copied(path: Path, generate: Callable, change: dict) -> None:
    source(path, "a.h5", 0, WHOLE, **CHUNKED)
    source(path, "b.h5", 1, WHOLE, **change)
    virtual(path, (80, 60), [(np.s_[:40], "a.h5", WHOLE, ALL), (np.s_[40:], "b.h5", WHOLE, ALL)])
    made = generate()
    check(path, made, inline=True)
    assert "a virtual dataset" in made.converted()["/v"]
    assert "a virtual dataset" in generate(on_unsupported="skip").skipped()["/v"]


def test_levels_of_compression_do_not_matter(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, WHOLE, **CHUNKED)
    source(path, "b.h5", 1, WHOLE, **{**CHUNKED, "compression_opts": 9})
    virtual(path, (80, 60), [(np.s_[:40], "a.h5", WHOLE, ALL), (np.s_[40:], "b.h5", WHOLE, ALL)])
    check(path, generate(), inline=False)


def test_no_more_than_fits(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, WHOLE, **CHUNKED)
    virtual(path, (35, 50), [(ALL, "a.h5", WHOLE, np.s_[5:40, :50])])
    assert "inline_limit" in generate(inline_limit=100).skipped()["/v"]


def low_level(path: Path, file: bytes, virtual: Any, source: Any) -> None:
    """A virtual dataset without an end; arguments are start, stride, count, block."""
    spaces = [
        h5s.create_simple((0, 60), (h5s.UNLIMITED, 60)),
        h5s.create_simple((10, 60), (h5s.UNLIMITED, 60)),
    ]
    for space, (start, stride, count, block) in zip(spaces, (virtual, source), strict=True):
        space.select_hyperslab(start, count, stride, block)
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_fill_value(np.array(-1, "<i4"))
    dcpl.set_virtual(spaces[0], file, b"/d", spaces[1])
    with h5py.File(path, "w", libver="latest") as f:
        h5py.h5d.create(f.id, b"v", h5py.h5t.STD_I32LE, spaces[0], dcpl)


def test_sources_named_by_a_pattern(path: Path, generate: Callable) -> None:
    for number in (0, 1, 2):
        source(path, f"part_{number}.h5", number, (10, 60), chunks=(10, 20), compression="gzip")
    low_level(
        path,
        b"part_%b.h5",
        ((0, 0), (10, 1), (h5s.UNLIMITED, 1), (10, 60)),
        ((0, 0), (1, 1), (1, 1), (10, 60)),
    )
    made = generate()
    assert check(path, made, inline=False).shape == (30, 60)
    assert len(made.rfs["sources"]) == 4


def test_a_source_without_an_end(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, WHOLE, maxshape=(None, 60), **CHUNKED)
    everything = ((0, 0), (1, 1), (1, 1), (h5s.UNLIMITED, 60))
    low_level(path, b"a.h5", everything, everything)
    assert check(path, generate(), inline=False).shape == WHOLE


def test_sources_in_the_same_file_and_through_links(path: Path, generate: Callable) -> None:
    data = source(path, path.name, 0, WHOLE, **CHUNKED)
    with h5py.File(path.with_name("linked.h5"), "w") as f:
        f["d"] = h5py.ExternalLink(path.name, "/soft")
    with h5py.File(path, "a") as f:
        f["soft"] = h5py.SoftLink("/d")
    virtual(path, (80, 60), [(np.s_[:40], ".", WHOLE, ALL), (np.s_[40:], "linked.h5", WHOLE, ALL)])
    made = generate()
    assert check(path, made, inline=False)[40:].tolist() == data.tolist()
    assert list(made.rfs["sources"]) == [str(path)]


def test_an_array_datatype(path: Path, generate: Callable) -> None:
    dtype = np.dtype(("<i4", (3,)))
    data = np.arange(1200, dtype="<i4").reshape(400, 3)
    with h5py.File(path.with_name("a.h5"), "w") as f:
        f.create_dataset("d", (400,), dtype, chunks=(100,), compression="gzip")[:] = data
    layout = h5py.VirtualLayout((800,), dtype)
    layout[400:] = h5py.VirtualSource("a.h5", "d", (400,), dtype=dtype)
    with h5py.File(path, "w") as f:
        f.create_virtual_dataset("v", layout)
    made = generate()
    assert made["v"][400:].tolist() == data.tolist()
    assert made["v"][:400].any() == False  # noqa: E712 - numpy's own
    assert not made.is_inline("v")


def test_many_chunks_of_one_file_have_an_index(path: Path, generate: Callable) -> None:
    source(path, "a.h5", 0, (2000, 200), chunks=(1, 200), compression="gzip")
    virtual(path, (2000, 200), [(ALL, "a.h5", (2000, 200), ALL)])
    made = generate()
    assert made.rfs["indexes"]["v"]["url"] == str(path.with_name("a.h5"))
    with h5py.File(path) as f:
        assert made["v"].tobytes() == f["v"][...].tobytes()


pieces = st.tuples(
    st.integers(0, 6),  # where it goes
    st.tuples(st.integers(0, 4), st.integers(1, 8), st.integers(1, 3)),  # rows taken: first, number, step
    st.tuples(st.integers(0, 2), st.integers(1, 3)),  # columns taken, in halves of a chunk
    st.integers(0, 2),  # which source
    st.integers(1, 2),  # step of the rows where it goes
)
layouts = st.sampled_from([{}, {"chunks": (2, 4)}, {"chunks": (1, 12)}, {"chunks": (2, 4), "compression": 1}])


@settings(max_examples=80)
@given(st.lists(pieces, min_size=1, max_size=3), layouts)
def test_whatever_is_mapped_reads_as_h5py_reads_it(
    tmp_path_factory: pytest.TempPathFactory, parts: list, layout: dict
) -> None:
    path = tmp_path_factory.mktemp("virtual") / "file.h5"
    for number in range(2):
        source(path, f"{number}.h5", number, (20, 12), **layout)
    virtual_layout = h5py.VirtualLayout((20, 12), "<i4")
    for place, (first, count, step), (column, width), which, ours in parts:
        count = min(count, (20 - first) // step, (20 - 2 * place) // ours)
        columns = slice(2 * column, min(12, 2 * (column + width)))
        taken = h5py.VirtualSource(f"{which}.h5", "d", (20, 12), dtype="<i4")
        rows = slice(first, first + count * step, step)
        begin = 2 * place
        virtual_layout[begin : begin + count * ours : ours, columns] = taken[rows, columns]
    with h5py.File(path, "w") as f:
        f.create_virtual_dataset("v", virtual_layout, fillvalue=-1)
    rfs = generate_rfs(path)
    with h5py.File(path) as f:
        assert open_rfs(rfs)["v"][...].tolist() == f["v"][...].tolist()
    assert verify_rfs(rfs, mode="full").equal


@pytest.mark.parametrize(
    ("chunk", "is_one"),
    [([4, 5, 6], True), ([2, 5, 6], True), ([1, 2, 6], True), ([1, 1, 2], True), ([2, 2, 6], False)],
)
def test_is_one_piece(chunk: list, is_one: bool) -> None:
    assert is_one_piece(chunk, (4, 5, 6), np.zeros((1, 3), np.int64)) == is_one
    assert not is_one_piece([4, 5, 6], (4, 5, 6), np.array([[0, 1, 0]]))
