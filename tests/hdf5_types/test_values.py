"""Values of every type: written from JSON, read as JSON, and the spellings of the Zarr side."""

import h5py
import numpy as np
import pytest
from h5py import h5d, h5g, h5r, h5s, h5t

from shadowzarr.hdf5_types.heap import release, writes_a_copy
from shadowzarr.hdf5_types.memory import element_type, memory_form
from shadowzarr.hdf5_types.references import DANGLING, NOWHERE, select, selection_to_json
from shadowzarr.hdf5_types.values_from_json import values_from_json
from shadowzarr.hdf5_types.values_to_json import values_to_json


class Objects:
    """References of one file."""

    def __init__(self, file):
        self.file = file

    def path(self, address):
        return "/x" if address == self.address("/x") else None

    def address(self, path):
        if path != "/x":
            return None
        return int(h5g.get_objinfo(self.file["x"].id).objno[0])

    def target(self, reference):
        return self.file[reference].name

    def region(self, reference):
        return {"id": "/x", **selection_to_json(h5r.get_region(reference, self.file.id))}

    def region_reference(self, described):
        space = self.file[described["id"]].id.get_space()
        select(space, described)
        return h5r.create(self.file.id, described["id"].encode(), h5r.DATASET_REGION, space)


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as opened:
        opened["x"] = np.arange(12).reshape(3, 4)
        yield opened


def there_and_back(file, tid, shape, value):
    """Write JSON to a dataset, read the dataset as JSON."""
    objects, form, (base, axes) = Objects(file), memory_form(tid), element_type(tid)
    values = values_from_json(tid, shape, value, objects)
    space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
    dataset = h5d.create(file.id, None, tid, space)
    dataset.write(h5s.ALL, h5s.ALL, values, form.tid)
    if writes_a_copy():
        release(base, values)
    again = np.zeros((*shape, *axes), memory_form(base).dtype)
    dataset.read(h5s.ALL, h5s.ALL, again, form.tid)
    try:
        return values_to_json(tid, again, objects)
    finally:
        release(base, again)


def compound(**members):
    sizes = [member.get_size() for member in members.values()]
    tid = h5t.create(h5t.COMPOUND, sum(sizes) + 3)
    for number, (name, member) in enumerate(members.items()):
        tid.insert(name.encode(), sum(sizes[:number]) + 3, member)
    return tid


def text(length=h5t.VARIABLE, padding=h5t.STR_NULLTERM):
    tid = h5t.C_S1.copy()
    tid.set_size(length)
    tid.set_strpad(padding)
    return tid


CASES = {
    "integers": (h5t.STD_I16BE, (2, 2), [[1, -2], [300, 4]]),
    "largest": (h5t.STD_U64LE, (), 2**64 - 1),
    "floats": (h5t.IEEE_F32BE, (3,), [0.5, -0.0, 2.0**-149]),
    "not finite": (h5t.IEEE_F64LE, (2,), ["0x7ff8000000000001", "0xfff0000000000000"]),
    "variable text": (text(), (2,), ["", "hello"]),
    "text that is not UTF-8": (text(), (), "base64:/w=="),
    "fixed text": (text(4, h5t.STR_SPACEPAD), (2,), ["ab", "abcd"]),
    "fixed text with NULs in spaces": (text(4, h5t.STR_SPACEPAD), (), "ab\0"),
    "behind the end": (text(4), (), "base64:YQBiYw=="),
    "opaque": (h5t.create(h5t.OPAQUE, 3), (), "base64:AAEC"),
    "bitfield": (h5t.STD_B8LE, (), "base64:8A=="),
    "time": (h5t.UNIX_D32LE, (), "base64:AQIDBA=="),
    "complex": (h5t.COMPLEX_IEEE_F64LE, (), [1.5, -2.0]),
    "references": (h5t.STD_REF_OBJ, (3,), ["/x", "", DANGLING]),
    "points": (
        h5t.STD_REF_DSETREG,
        (2,),
        [{"id": "/x", "select_type": "H5S_SEL_POINTS", "selection": [[0, 1], [2, 3]]}, ""],
    ),
    "blocks": (
        h5t.STD_REF_DSETREG,
        (1,),
        [
            {
                "id": "/x",
                "select_type": "H5S_SEL_HYPERSLABS",
                "selection": [[[0, 0], [0, 1]], [[2, 2], [2, 3]]],
            }
        ],
    ),
    "sequences": (h5t.vlen_create(h5t.STD_I32BE), (3,), [[1, 2], [], [3]]),
    "sequences of sequences": (h5t.vlen_create(h5t.vlen_create(h5t.STD_I8LE)), (2,), [[[1], [2, 3]], []]),
    "sequences of text": (h5t.vlen_create(text()), (2,), [["a", "bc"], []]),
    "sequences of references": (h5t.vlen_create(h5t.STD_REF_OBJ), (2,), [["/x"], ["", "/x"]]),
    "sequences of compounds": (
        h5t.vlen_create(compound(n=h5t.STD_I16LE, t=text())),
        (1,),
        [[[1, "one"], [2, "two"]]],
    ),
    "arrays": (h5t.array_create(h5t.STD_I8LE, (2,)), (2,), [[1, 2], [3, 4]]),
    "compound of everything": (
        compound(
            n=h5t.STD_I32BE,
            t=text(),
            f=text(3),
            r=h5t.STD_REF_OBJ,
            v=h5t.vlen_create(h5t.STD_U8LE),
            a=h5t.array_create(h5t.IEEE_F32LE, (2,)),
        ),
        (2,),
        [[1, "x", "abc", "/x", [1, 2], [0.5, 1.5]], [2, "", "", "", [], [0.0, 0.0]]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_come_back(file, name):
    tid, shape, value = CASES[name]
    assert there_and_back(file, tid, shape, value) == value


def test_many_numbers_are_given_as_their_bytes(file):
    value = there_and_back(file, h5t.STD_U8LE, (20,), list(range(20)))
    assert value == "base64:AAECAwQFBgcICQoLDA0ODxAREhM="
    assert there_and_back(file, h5t.STD_U8LE, (20,), value) == value


def test_a_dangling_reference_leads_nowhere(file):
    values = values_from_json(h5t.STD_REF_OBJ, (), dict(DANGLING), Objects(file))
    assert int(values) == NOWHERE


@pytest.mark.parametrize(
    ("tid", "held", "value"),
    [
        (h5t.STD_REF_OBJ, {"_REFERENCE": {"source": ".", "path": "/x"}}, "/x"),
        (compound(a=h5t.STD_I8LE, b=text()), {"b": "t", "a": 5}, [5, "t"]),
        (h5t.IEEE_F32LE, float("nan"), "0x7fc00000"),
        (h5t.IEEE_F64LE, 3, 3.0),
        (h5t.create(h5t.OPAQUE, 2), b"\0\1", "base64:AAE="),
        (text(3), b"a\xff", "base64:Yf8="),
        (h5t.py_create(np.dtype(bool), logical=True), True, 1),
    ],
    ids=["reference", "compound", "nan", "whole float", "opaque", "bytes", "bool"],
)
def test_spellings_of_the_zarr_side(file, tid, held, value):
    objects = Objects(file)
    assert values_to_json(tid, values_from_json(tid, (), held, objects), objects) == value


@pytest.mark.parametrize(
    ("tid", "shape", "value"),
    [
        (h5t.STD_I8LE, (2,), [1]),
        (h5t.STD_I8LE, (), 300),
        (h5t.STD_I8LE, (), 1.5),
        (h5t.STD_I8LE, (), None),
        (text(2), (), "abc"),
        (text(), (), 7),
        (text(), (), "a\0b"),
        (h5t.STD_REF_OBJ, (), "/y"),
        (compound(a=h5t.STD_I8LE), (), {"b": 1}),
        (compound(a=h5t.STD_I8LE), (), [1, 2]),
        (h5t.create(h5t.OPAQUE, 2), (), "base64:AA=="),
        (h5t.vlen_create(h5t.STD_I8LE), (), 1),
    ],
)
def test_what_does_not_fit_is_refused(file, tid, shape, value):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        values_from_json(tid, shape, value, Objects(file))


def test_sequences_of_regions_are_refused():
    with pytest.raises(TypeError, match="region references inside sequences"):
        values_from_json(h5t.vlen_create(h5t.STD_REF_DSETREG), (1,), [[""]], None)
