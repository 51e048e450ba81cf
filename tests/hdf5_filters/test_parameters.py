import itertools

import numpy as np
import pytest
from h5py import h5d, h5f, h5p, h5s, h5t
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.hdf5_filters.nbit import BadTypeError, Packing, is_packed, packing
from shadowzarr.hdf5_filters.parameters import bad_values, unpadded_szip

COUNT = itertools.count()
NBIT = (8, 0, 10, 1, 4, 0, 20, 7)
SCALE = (2, 0, 10, 0, 4, 1, 0, 1, *bytes(12))


@pytest.mark.parametrize(
    ("number", "values"),
    [
        (1, (0,)),
        (1, (9,)),
        (2, (4,)),
        (3, ()),
        (3, (7,)),
        (4, (141, 4, 32, 5)),
        (4, (169, 32, 64, 4096)),
        (4, (177, 4, 24, 12)),
        (5, NBIT),
        (5, (8, 1, 10, 1, 4, 0, 32, 0)),
        (5, (3, 1, 10)),
        (6, SCALE),
        (6, (2, 2**32 - 1, *SCALE[2:])),
        (
            6,
            (0, 2**32 - 2, 10, 1, 4, 148433160, 1, 1, *bytes(12)),
        ),  # what HDF5 does not set, it leaves as it was
        (32000, (4, 261, 40)),
        (32000, ()),
        (32008, (0, 4, 4)),
        (54321, (1, 2, 3)),
    ],
)
def test_what_hdf5_writes_passes(number, values):
    assert bad_values(number, values, 40) == ""


@pytest.mark.parametrize(
    ("number", "values", "complaint"),
    [
        (1, (), "level"),
        (1, (10,), "level"),
        (1, (1, 1), "level"),
        (2, (0,), "bytes of an element"),
        (2, (), "bytes of an element"),
        (4, (141, 16, 32), "four values"),
        (4, (141, 0, 32, 64), "0 pixels in a block"),
        (4, (141, 7, 32, 64), "7 pixels in a block"),
        (4, (141, 34, 32, 64), "34 pixels in a block"),
        (4, (141, 8, 0, 64), "0 bits"),
        (4, (141, 8, 25, 64), "25 bits"),
        (4, (141, 8, 2**32 - 1, 64), "bits in a pixel"),
        (4, (141, 8, 32, 0), "0 pixels in a scanline"),
        (4, (141, 8, 32, 1025), "1025 pixels in a scanline"),
        (4, (2**31, 8, 32, 64), "set of options"),
        (5, (), "number of its values"),
        (5, (9, 1, 10), "number of its values"),
        (5, (8, 0, 11, *NBIT[3:]), "chunks of 44 bytes"),
        (5, (9, *NBIT[1:]), "do not describe"),
        (6, SCALE[:-1], "20 values"),
        (6, (2, 0, 2**32 - 1, *SCALE[3:]), "chunks of 17,179,869,180 bytes"),
        (6, (2, 33, *SCALE[2:]), "33 bits"),
        (6, (1, *SCALE[1:]), "method 1"),
        (6, (0, *SCALE[1:]), "method 0"),
        (6, (2, 0, 10, 2, *SCALE[4:]), "class 2"),
        (6, (2, 0, 13, 0, 3, *SCALE[5:]), "3 bytes"),
        (6, (2, 0, 10, 0, 4, 1, 2, *SCALE[7:]), "byte order 2"),
        (32000, (4, 261, 2**32 - 1), "4,294,967,295 bytes"),
        (32008, (0, 4, 0, 64, 2), "bytes of an element"),
        (32008, (0, 4), "bytes of an element"),
    ],
)
def test_what_would_crash_or_allocate_does_not(number, values, complaint):
    assert complaint in bad_values(number, values, 40)


def n_bit(*tree, elements=10):
    return (len(tree) + 3, 0, elements, *tree)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ((1, 4, 0, 20, 7), Packing(4, 20)),
        ((2, 12, 1, 4, 1, 20, 0), Packing(12, 60)),
        ((2, 12, 4, 1), Packing(12, 96)),
        ((2, 12, 2, 6, 1, 2, 0, 11, 0), Packing(12, 66)),
        ((3, 8, 2, 4, 1, 4, 0, 20, 7, 0, 4, 2), Packing(8, 36)),
    ],
)
def test_types_of_n_bit(tree, expected):
    assert packing(n_bit(*tree)) == expected


@pytest.mark.parametrize(
    "tree",
    [
        (),
        (1,),
        (0, 4, 0, 20, 7),
        (5, 4, 0, 20, 7),
        (4, 4),
        (1, 0, 0, 0, 0),
        (1, 4, 0, 0, 0),
        (1, 4, 2, 20, 0),
        (1, 4, 0, 20, 13),
        (1, 4, 0, 33, 0),
        (1, 4, 0, 20),
        (1, 4, 0, 20, 7, 0),
        (2, 12, 1, 0, 0, 20, 0),
        (2, 13, 1, 4, 0, 20, 0),
        (2, 12, 9, 4),
        (2, 4) * 40,
        (2, 4) * 20_000,
        (3, 8, 2**32 - 1, 0, 4, 2),
        (3, 8, 1, 7, 4, 2),
        (3, 8, 1, 2**32 - 1, 4, 2),
        (3, 2, 2, 0, 4, 2, 0, 4, 2),
    ],
)
def test_no_types_of_n_bit(tree):
    with pytest.raises(BadTypeError):
        packing(n_bit(*tree))


NUMBERS = st.builds(
    lambda base, take, offset: (base, take, min(offset, 8 * base.get_size() - take)),
    st.sampled_from([h5t.STD_I8LE, h5t.STD_U16BE, h5t.STD_I32LE, h5t.STD_I32BE, h5t.STD_U64LE]),
    st.integers(1, 8),
    st.integers(0, 60),
)


def some_type(members):
    """A compound of numbers, each alone and in an array of three."""
    types = []
    for base, precision, offset in members:
        number = base.copy()
        number.set_precision(precision)
        number.set_offset(offset)
        types += [number, h5t.array_create(number, (3,))]
    compound = h5t.create(h5t.COMPOUND, sum(kind.get_size() for kind in types))
    place = 0
    for number, kind in enumerate(types):
        compound.insert(b"%d" % number, place, kind)
        place += kind.get_size()
    return compound


@given(members=st.lists(NUMBERS, min_size=1, max_size=3), elements=st.integers(1, 9))
def test_n_bit_packs_as_many_bits_as_hdf5(members, elements):
    kind = some_type(members)
    access, creation = h5p.create(h5p.FILE_ACCESS), h5p.create(h5p.DATASET_CREATE)
    access.set_fapl_core(65536, False)
    creation.set_chunk((elements,))
    creation.set_filter(5)
    file = h5f.create(b"n-bit-%d" % next(COUNT), fapl=access)
    dataset = h5d.create(file, b"d", kind, h5s.create_simple((elements,)), creation)
    dataset.write(h5s.ALL, h5s.ALL, np.zeros(elements * kind.get_size(), "u1"), kind)
    h5f.flush(file)
    values = dataset.get_create_plist().get_filter(0)[2]
    element = packing(values)
    assert element.size == kind.get_size()
    assert bad_values(5, values, elements * element.size) == ""
    # HDF5 stores the byte after the last bit too
    stored = elements * element.bits // 8 + 1 if is_packed(values) else elements * element.size
    assert len(dataset.read_direct_chunk((0,))[1]) == stored


@pytest.mark.parametrize(
    ("values", "nbytes", "expected"),
    [
        ((169, 16, 32, 64), 4000, None),
        ((169, 16, 8, 50), 100, ((169, 16, 8, 64), 128)),
        ((169, 16, 12, 50), 202, ((169, 16, 12, 64), 384)),
        ((169, 16, 24, 50), 400, ((169, 16, 24, 64), 512)),
        ((169, 16, 32, 50), 400, ((169, 16, 8, 64), 512)),
        ((169, 16, 64, 50), 400, ((169, 16, 8, 64), 512)),
    ],
)
def test_szip_without_padding(values, nbytes, expected):
    assert unpadded_szip(values, nbytes) == expected
