"""HDF5 File Format, III.E and IV.B: global heap collections, and the pointers into them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.formats.hdf5.read_ahead import pointers
from shadowzarr.formats.hdf5.read_ahead.datatypes import Datatype, Pointer
from shadowzarr.formats.hdf5.read_ahead.fields import NotUnderstoodError
from shadowzarr.formats.hdf5.read_ahead.global_heap import objects, read_collection
from shadowzarr.formats.hdf5.read_ahead.graph import Graph
from shadowzarr.formats.hdf5.read_ahead.superblock import Superblock

from .nodes import SIZES, Placed, drive

CHARACTER = Datatype(1, is_plain=False)
TEXT = Datatype(16, (Pointer(0, CHARACTER),), is_plain=False)
TEXTS = Datatype(16, (Pointer(0, TEXT),), is_plain=False)
REGION = Datatype(12, (Pointer(0, None),), is_plain=False)


def element(length, place, index=1):
    return struct.pack("<IQI", length, place, index)


def collection(*items, size=None):
    body = b""
    for index, content in items:
        body += struct.pack("<HH4xQ", index, 1, len(content)) + content
        body += bytes(-len(content) % 8)
    size = size or 16 + len(body) + 16
    return struct.pack("<4sB3xQ", b"GCOL", 1, size) + body + struct.pack("<HH4xQ", 0, 0, 16)


def read(file, raw, datatype, base=0):
    """The rounds of all walks that elements start, in the order in which they were started."""
    graph = Graph(Superblock(base=base, sizes=SIZES, root=0), len(bytes(file)))
    pointers.follow(graph, raw, datatype)
    rounds = []
    while graph.started:
        rounds += drive(graph.started.popleft(), bytes(file))[1]
    return rounds


def test_each_collection_is_read_once():
    raw = element(5, 1000) + element(3, 8000) + element(7, 1000) + element(0, 0, 0)
    file = Placed().put(1000, collection()).put(8000, collection())
    assert read(file, raw, TEXT) == [[(1000, 4096)], [(8000, 4096)]]
    assert read(file, raw * 10, TEXT) == [[(1000, 4096)], [(8000, 4096)]]


def test_addresses_count_from_the_base():
    assert read(Placed().put(1512, collection()), element(1, 1000), TEXT, base=512) == [[(1512, 4096)]]


def test_a_collection_is_as_large_as_what_is_known_to_be_in_it():
    raw = element(5000, 1000) + element(2001, 1000, 2)
    needed = 16 + (16 + 5000) + (16 + 2008)
    file = Placed().put(1000, collection(size=needed))
    assert read(file, raw, TEXT) == [[(1000, needed)]]
    assert read(file, raw * 3, TEXT)[0] == [(1000, 16 + 3 * (needed - 16))]


def test_the_rest_of_a_larger_collection_is_read():
    file = Placed().put(1000, collection(size=9000))
    assert read(file, element(1, 1000), TEXT) == [[(1000, 4096)], [(1000, 9000)]]


def test_sequences_of_sequences():
    inner = element(4, 8000) + element(4, 20_000)
    file = Placed().put(1000, collection((3, inner), (4, element(1, 30_000))))
    for place in (8000, 20_000, 30_000):
        file.put(place, collection())
    assert read(file, element(2, 1000, 3), TEXTS) == [[(1000, 4096)], [(8000, 4096)], [(20_000, 4096)]]


def test_region_references_have_no_length():
    file = Placed().put(1000, collection())
    assert read(file, struct.pack("<QI", 1000, 1) * 7 + bytes(12), REGION) == [[(1000, 4096)]]


def test_pointers_in_compounds():
    pair = Datatype(28, (Pointer(4, CHARACTER), Pointer(20, CHARACTER)), is_plain=False)
    with pytest.raises(ValueError, match=r"past its element|field"):
        read(Placed(), bytes(28), pair)
    pair = Datatype(40, (Pointer(4, CHARACTER), Pointer(20, CHARACTER)), is_plain=False)
    file = Placed().put(1000, collection()).put(8000, collection())
    raw = (b"1234" + element(1, 1000) + element(2, 8000) + bytes(4)) * 9
    assert read(file, raw, pair) == [[(1000, 4096)], [(8000, 4096)]]


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.sampled_from([0, 1000, 2**63]), st.integers(0, 9))))
def test_few_and_many_elements_are_looked_at_alike(items):
    raw = b"".join(element(*item) for item in items)
    for datatype in (TEXT, TEXTS):
        few, many = {}, {}
        pointers._find_few(few, raw, 16, datatype.pointers[0], SIZES)
        pointers._find(many, raw, 16, datatype.pointers[0], SIZES)
        assert few == many


def test_objects_of_a_collection():
    data = collection((1, b"one"), (7, b"seventeen"))
    assert list(objects(data, SIZES)) == [(1, b"one"), (7, b"seventeen")]
    assert list(objects(data[:40], SIZES)) == [(1, b"one")]


@pytest.mark.parametrize("node", [b"", b"GCOX" + bytes(20), collection(size=2**40)])
def test_what_is_none(node):
    with pytest.raises(NotUnderstoodError):
        drive(read_collection(0, 0, 0, SIZES), node)
