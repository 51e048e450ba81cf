"""Values that are put together are those that h5py gives by local path."""

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowzarr.verify.hdf5.elsewhere import Elsewhere, source_names
from shadowzarr.verify.hdf5.neighbours import NotToBeReadError

SHAPE = (12, 9)
slices = st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(1, 3)).map(
    lambda it: slice(it[0], it[0] + it[1] * it[2], it[1])
)


def put_together(dataset):
    def source(name, path):
        file = dataset.file if name == "." else None
        return file[path] if file is not None and path in file else None

    return Elsewhere(dataset, source, lambda _dataset, name: name)


def regions(shape):
    return [tuple(slice(0, n) for n in shape), tuple(slice(n // 3, n // 2 + 1) for n in shape)]


@settings(max_examples=60)
@given(st.lists(st.tuples(slices, slices, st.integers(0, 5), st.booleans()), min_size=1, max_size=3))
def test_mappings(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("virtual") / "file.h5"
    data = np.arange(108).reshape(SHAPE)
    layout = h5py.VirtualLayout((30, 9), "i8")
    for number, (rows, columns, shift, is_there) in enumerate(parts):
        count = len(range(*rows.indices(12)))
        taken = h5py.VirtualSource(".", "x" if is_there else "none", SHAPE)[rows, columns]
        step = 1 + shift % 2
        begin = 10 * number
        width = len(range(*columns.indices(9)))
        layout[begin : begin + count * step : step, :width] = taken
    with h5py.File(path, "w") as file:
        file["x"] = data
        file.create_virtual_dataset("v", layout, fillvalue=-1)
    with h5py.File(path) as file:
        ours = put_together(file["v"])
        for region in regions((30, 9)):
            assert ours[region].tolist() == file["v"][region].tolist()


def test_frames_of_a_stack(tmp_path):
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["x"] = np.arange(24.0).reshape(4, 6)
        layout = h5py.VirtualLayout((5, 4, 6), "f8")
        layout[3] = h5py.VirtualSource(".", "x", (4, 6))
        layout[1, :, 2] = h5py.VirtualSource(".", "x", (4, 6))[:, 5]
        file.create_virtual_dataset("v", layout, fillvalue=np.nan)
    with h5py.File(tmp_path / "file.h5") as file:
        ours = put_together(file["v"])
        assert ours.shape == (5, 4, 6)
        for region in regions((5, 4, 6)):
            np.testing.assert_array_equal(ours[region], file["v"][region])


def test_what_is_not_put_together(tmp_path):
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["x"] = np.arange(5)
        file["text"] = ["a", "b"]
        layouts = {
            "nested": ("v", "i8", (5,)),
            "v": ("x", "i8", (5,)),
            "short": ("x", "i8", (9,)),
            "words": ("text", h5py.string_dtype(), (2,)),
        }
        for name, (source, dtype, shape) in layouts.items():
            layout = h5py.VirtualLayout(shape, dtype)
            layout[:] = h5py.VirtualSource(".", source, shape, dtype=dtype)
            file.create_virtual_dataset(name, layout)
    with h5py.File(tmp_path / "file.h5") as file:
        assert put_together(file["v"])[0:5,].tolist() == [0, 1, 2, 3, 4]
        for name in ("nested", "short", "words"):
            with pytest.raises(NotToBeReadError):
                put_together(file[name])


def test_names_by_a_pattern(shared):
    with h5py.File(shared / "corpus" / "hdf5" / "hdf5lib" / "4_vds.h5") as file:
        assert list(source_names(file["vds_dset"]))[:2] == [
            ("4_0.h5", "/source_dset"),
            ("4_1.h5", "/source_dset"),
        ]
