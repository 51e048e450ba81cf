"""Small HDF5 files with one object ``x`` each, by the feature that it shows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

TYPES, SPACES, LAYOUTS, FILTERS = "Datatypes", "Dataspaces", "Layouts", "Filters"
LINKS, ATTRIBUTES, NAMES, FILES, FILLS, LEFT = (
    "Links",
    "Attributes",
    "Names",
    "Files",
    "Fill values",
    "What is left out",
)
LATEST: dict[str, Any] = {"libver": "latest"}


@dataclass(frozen=True)
class Feature:
    """One row.

    Attributes
    ----------
    topic, name : str
        The table, and the row in it.
    build : callable
        Puts ``x`` into an open file, or an attribute ``x`` on the root.
    wanted : str
        A part of how it is stored, so that the row cannot change in silence.
    options : dict
        Of the file: ``libver``, ``userblock_size``, ``track_order``.
    plugin : bool
        Whether it needs hdf5plugin.
    """

    topic: str
    name: str
    build: Callable[[h5py.File], Any]
    wanted: str
    options: dict[str, Any] = field(default_factory=dict)
    plugin: bool = False


def low(
    tid: h5t.TypeID, raw: bytes | None = None, shape: tuple[int, ...] = (2,), **properties: Any
) -> Callable:
    """A dataset of a type that h5py's high level cannot make."""

    def build(file: h5py.File) -> None:
        creation = h5p.create(h5p.DATASET_CREATE)
        for name, value in properties.items():
            getattr(creation, name)(*(value if isinstance(value, tuple) else (value,)))
        space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
        made = h5d.create(file.id, b"x", tid, space, creation)
        if raw is not None:
            made.write(h5s.ALL, h5s.ALL, np.frombuffer(raw, f"V{tid.get_size()}").reshape(shape).copy(), tid)

    return build


def data(values: Any, dtype: Any = None, **options: Any) -> Callable:
    return lambda file: file.create_dataset("x", data=np.asarray(values, dtype), **options)


def empty(shape: Any, dtype: Any, **options: Any) -> Callable:
    return lambda file: file.create_dataset("x", shape, dtype, **options)


def altered(tid: h5t.TypeID, *changes: tuple) -> h5t.TypeID:
    tid = tid.copy()
    for name, *arguments in changes:
        getattr(tid, name)(*arguments)
    return tid


def opaque(size: int, tag: bytes) -> h5t.TypeID:
    return altered(h5t.create(h5t.OPAQUE, size), ("set_tag", tag))


def compound(*fields: tuple[bytes, int, h5t.TypeID], size: int) -> h5t.TypeID:
    tid = h5t.create(h5t.COMPOUND, size)
    for name, offset, member in fields:
        tid.insert(name, offset, member)
    return tid


def sequences(items: list, dtype: Any) -> Callable:
    def build(file: h5py.File) -> None:
        made = file.create_dataset("x", (len(items),), h5py.vlen_dtype(dtype))
        for number, item in enumerate(items):
            made[number] = item

    return build


def beside(build: Callable[[h5py.File], Any]) -> Callable:
    """With a dataset ``y`` that links and references may lead to."""

    def both(file: h5py.File) -> None:
        file["y"] = np.arange(4)
        build(file)

    return both


def attribute(value: Any, **options: Any) -> Callable:
    return lambda file: file.attrs.create("x", value, **options)


def link(name: str, target: Any) -> Callable:
    return lambda file: file.__setitem__(name, target)


BIG = np.arange(600, dtype="<i4").reshape(30, 20)
TIMES = np.array(["2020-01-01", "NaT"], "<M8[s]")
ROW = np.dtype([("n", "<i4"), ("text", h5py.string_dtype()), ("to", h5py.ref_dtype)])
ZIP: dict[str, Any] = {"chunks": (10, 10), "compression": "gzip"}


def rows(file: h5py.File) -> None:
    file.create_dataset("x", data=np.array([(1, "a", file["y"].ref), (2, "é", h5py.Reference())], ROW))


def regions(file: h5py.File) -> None:
    made = file.create_dataset("x", (2,), h5py.regionref_dtype)
    made[0], made[1] = file["y"].regionref[:2], file["y"].regionref[[0, 3]]


def masked(file: h5py.File) -> None:
    made = file.create_dataset("x", data=BIG, **ZIP)
    made.id.write_direct_chunk((0, 0), BIG[:10, :10].tobytes(), 1)


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((2, 4), "<i8")
    layout[0] = h5py.VirtualSource(".", "y", (4,))
    file.create_virtual_dataset("x", layout, fillvalue=-1)


def raw_file(file: h5py.File) -> None:
    Path(file.filename).with_name("raw.bin").write_bytes(BIG.tobytes())
    file.create_dataset("x", BIG.shape, BIG.dtype, external=[("raw.bin", 0, BIG.nbytes)])


def other_file(file: h5py.File) -> None:
    with h5py.File(Path(file.filename).with_name("other.h5"), "w") as other:
        other["y"] = BIG
    file["x"] = h5py.ExternalLink("other.h5", "/y")


def scaled(file: h5py.File) -> None:
    file["y"].make_scale("y")
    file["x"] = np.zeros((2, 4))
    file["x"].dims[1].attach_scale(file["y"])


def filtered(number: int, values: tuple = (), array: Any = BIG) -> Callable:
    return lambda file: file.create_dataset(
        "x", data=array, chunks=(10, 10), compression=number, compression_opts=values or None
    )


def plugin(name: str, **options: Any) -> Callable:
    def build(file: h5py.File) -> None:
        import hdf5plugin

        values = BIG.astype("<f4") if name == "Zfp" else BIG
        file.create_dataset("x", data=values, chunks=(10, 10), **getattr(hdf5plugin, name)(**options))

    return build


def unknown_filter(file: h5py.File) -> None:
    creation = h5p.create(h5p.DATASET_CREATE)
    creation.set_chunk((2,))
    creation.set_filter(299, h5z.FLAG_OPTIONAL)
    made = h5d.create(file.id, b"x", h5t.STD_U8LE, h5s.create_simple((2,)), creation)
    made.write_direct_chunk((0,), b"ab", 0)
