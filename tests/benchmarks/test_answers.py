"""A fast wrong answer is no result: what contenders find is compared with what the file has."""

import json

import h5py
import numpy as np

from benchmarks.contenders.generate.found import differences, found, from_kerchunk
from benchmarks.contenders.read.selections import digest, slices
from benchmarks.files.chunk_values import allocate, chunk_table, fill_every_chunk
from benchmarks.options import read_options
from benchmarks.patterns import patterns

TRUTH = found({"a/b": "volts", "c": None}, [300, 100], [7, 8])


def test_order_of_chunks_and_arrays_does_not_matter():
    assert found({"c": None, "a/b": b"volts"}, np.array([100, 300]), np.array([8, 7])) == TRUTH


def test_each_kind_of_difference_is_told():
    assert differences(TRUTH, TRUTH) == ""
    shifted = found({"a/b": "volts", "c": None}, [301, 100], [7, 8])
    assert differences(shifted, TRUTH) == "wrong: 2 chunks, other than the 2 of the file"
    assert differences(found({"c": None}, [300, 100], [7, 8]), TRUTH) == "has 1 of 2 arrays"
    other = found({"a/b": "amperes", "c": None}, [300, 100], [7, 8])
    assert differences(other, TRUTH) == "other attributes than the file's"


def test_a_kerchunk_document_is_understood():
    references = {
        "a/b/.zarray": "{}",
        "a/b/.zattrs": json.dumps({"unit": "volts"}),
        "a/b/0.0": ["u", 300, 7],
        "a/b/0.1": ["u", 100, 8],
        "c/.zarray": {},
        "c/0": ["u", 1, 1],
    }
    assert from_kerchunk(references, "a/b") == TRUTH


def test_values_are_compared_by_their_bytes():
    data = np.arange(12, dtype=np.int16).reshape(3, 4)
    part = data[slices([(0, 3), (1, 2)])]
    assert digest([part]) == digest([part.copy(order="F")]) != digest([part + 1])


def test_allocated_chunks_get_values_each_its_own(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        allocate(file, "data", (40, 5), (4, 1))
    fill_every_chunk(path, "data", seed=1)
    with h5py.File(path) as file:
        values = file["data"][:]
        assert len(chunk_table(file["data"])[0]) == 50
    assert len(np.unique(values.reshape(10, 4, 5).swapaxes(1, 2).reshape(50, 4), axis=0)) == 50


def test_patterns_lie_within_their_datasets():
    for is_quick in (False, True):
        listed = patterns(is_quick=is_quick)
        assert len({each.name for each in listed}) == len({each.title for each in listed}) == len(listed)
        for pattern in listed:
            for selection in pattern.selections[:100]:
                assert all(0 <= start < stop for start, stop in selection)


def test_a_quick_run_does_a_few_tasks_once():
    options = read_options("", ["slab"], ["--quick"])
    assert (options.only, options.repeats) == (["slab"], 1)
    assert options.takes("slab")
    assert not options.takes("whole")
    chosen = read_options(
        "", ["slab"], ["--quick", "--only", "whole", "--latency", "5", "--bandwidth", "100"]
    )
    assert (chosen.only, chosen.latency, chosen.bandwidth) == (["whole"], 0.005, 100e6)
    assert read_options("", ["slab"], []).takes("anything")
