"""Datatypes of random files: how each is made, and values of it from a seeded generator.

`Datatype.tid` makes the low-level type, so that every property of it is the one that is meant, and
`Datatype.values` gives what is written: raw bytes in the type itself, or objects for h5py when the values
lie in a heap.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from h5py import h5t

TEXTS = (
    "",
    "a",
    "abc",
    "trailing ",
    "NaN",
    "base64:AAAA",
    "_str_x",
    "é",
    "漢字",
    "\x7f",
    "two\nlines",
    '"q"',
)
BYTES = (b"\xff\xfe", b"caf\xe9", b"ok")


@dataclass(frozen=True)
class Datatype:
    """One datatype.

    Attributes
    ----------
    name : str
        In examples.
    tid : callable
        Makes the low-level type.
    values : callable
        ``(random, count, targets) -> bytes or array``; targets are objects that references may name.
    may_be_left_out : bool
        Whether the values may be left out by name: h5py cannot read them, or nothing can hold them.
    can_fill : bool
        Whether raw bytes of it may be a fill value.
    """

    name: str
    tid: Callable[[], h5t.TypeID]
    values: Callable[[random.Random, int, list[Any]], Any]
    may_be_left_out: bool = False
    can_fill: bool = True

    def __repr__(self) -> str:
        return f"datatype({self.name!r})"


def _random_bytes(itemsize: int) -> Callable[[random.Random, int, list[Any]], bytes]:
    """Half of the elements are any bytes (NaNs with payloads among them), half are small or extreme."""
    common = (
        bytes(itemsize),
        b"\xff" * itemsize,
        b"\x01" + bytes(itemsize - 1),
        bytes(itemsize - 1) + b"\x01",
    )

    def values(source: random.Random, count: int, _targets: list[Any]) -> bytes:
        parts = (
            source.choice(common) if source.random() < 0.5 else source.randbytes(itemsize)
            for _ in range(count)
        )
        return b"".join(parts)

    return values


def _numpy(code: str) -> Datatype:
    dtype = np.dtype(code)
    return Datatype(code, lambda: h5t.py_create(dtype, logical=True), _random_bytes(dtype.itemsize))


def _altered(name: str, base: h5t.TypeID, alter: Callable[[Any], Any], **options: Any) -> Datatype:
    def make() -> h5t.TypeID:
        tid = base.copy()
        alter(tid)
        return tid

    return Datatype(name, make, _random_bytes(make().get_size()), **options)


def _bits(precision: int, offset: int = 0) -> Callable[[Any], None]:
    def alter(tid: Any) -> None:
        tid.set_precision(precision)
        tid.set_offset(offset)

    return alter


def _bfloat16(tid: Any) -> None:
    tid.set_fields(15, 7, 8, 0, 7)
    tid.set_size(2)
    tid.set_precision(16)
    tid.set_ebias(127)


def _long_doubles(source: random.Random, count: int, _targets: list[Any]) -> bytes:
    pool = (0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, 1e300, 5e-324)
    return np.array([source.choice(pool) for _ in range(count)], np.longdouble).tobytes()


def _enum(base: str, members: dict[str, int]) -> h5t.TypeID:
    return h5t.py_create(h5py.enum_dtype(members, base), logical=True)


def _booleans(source: random.Random, count: int, _targets: list[Any]) -> bytes:
    return bytes(source.randrange(2) for _ in range(count))


def _opaque(size: int, tag: bytes) -> h5t.TypeID:
    tid = h5t.create(h5t.OPAQUE, size)
    tid.set_tag(tag)
    return tid


def _fixed_text(size: int, padding: int, charset: int) -> Datatype:
    def make() -> h5t.TypeID:
        tid = h5t.C_S1.copy()
        tid.set_size(size)
        tid.set_strpad(padding)
        tid.set_cset(charset)
        return tid

    pad = b" " if padding == h5t.STR_SPACEPAD else b"\0"

    def values(source: random.Random, count: int, _targets: list[Any]) -> bytes:
        pool = [text.encode()[:size].decode("utf-8", "ignore").encode() for text in TEXTS]
        if charset == h5t.CSET_ASCII and source.random() < 0.2:
            pool.extend(item[:size] for item in BYTES)
        room = size - 1 if padding == h5t.STR_NULLTERM and size > 1 else size
        items = (source.choice(pool)[:room] for _ in range(count))
        return b"".join(item.ljust(size, pad) for item in items)

    names = {h5t.STR_NULLTERM: "terminated", h5t.STR_NULLPAD: "padded", h5t.STR_SPACEPAD: "spaces"}
    sets = "utf8" if charset == h5t.CSET_UTF8 else "ascii"
    return Datatype(f"text{size} {names[padding]} {sets}", make, values)


def _objects(items: list[Any]) -> np.ndarray:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _texts(source: random.Random, count: int, _targets: list[Any]) -> np.ndarray:
    pool: list[Any] = [text.encode() for text in TEXTS]
    if source.random() < 0.2:
        pool.extend(BYTES)
    return _objects([source.choice(pool) for _ in range(count)])


def _sequences(dtype: Any) -> Callable[[random.Random, int, list[Any]], np.ndarray]:
    def values(source: random.Random, count: int, _targets: list[Any]) -> np.ndarray:
        size = np.dtype(dtype).itemsize
        return _objects(
            [np.frombuffer(source.randbytes(size * source.randrange(4)), dtype) for _ in range(count)]
        )

    return values


def _references(source: random.Random, count: int, targets: list[Any]) -> np.ndarray:
    null = h5py.h5r.Reference()
    return _objects([source.choice([null, *(target.ref for target in targets)]) for _ in range(count)])


def _regions(source: random.Random, count: int, targets: list[Any]) -> np.ndarray:
    null = h5py.h5r.RegionReference()
    arrays = [target for target in targets if getattr(target, "shape", ()) not in ((), None)]
    return _objects([source.choice([null, *(each.regionref[:1] for each in arrays)]) for _ in range(count)])


def _compound(*fields: tuple[str, Callable[[], h5t.TypeID]], gap: int = 0) -> Callable[[], h5t.TypeID]:
    def make() -> h5t.TypeID:
        tids = [(name, member()) for name, member in fields]
        tid = h5t.create(h5t.COMPOUND, sum(member.get_size() + gap for _, member in tids))
        offset = 0
        for name, member in tids:
            tid.insert(name.encode(), offset, member)
            offset += member.get_size() + gap
        return tid

    return make


def _plain_compound(name: str, *fields: tuple[str, Any], gap: int = 0, **options: Any) -> Datatype:
    make = _compound(*fields, gap=gap)
    return Datatype(name, make, _random_bytes(make().get_size()), **options)


def _array_of(base: Callable[[], h5t.TypeID], shape: tuple[int, ...]) -> Callable[[], h5t.TypeID]:
    return lambda: h5t.array_create(base(), shape)


_ROW = np.dtype([("n", "<i4"), ("t", h5py.string_dtype()), ("r", h5py.ref_dtype), ("f", "S3"), ("x", ">f8")])
_NESTED = np.dtype([("i", "<u2"), ("in", [("t", h5py.string_dtype("ascii")), ("y", "<f4")])])


def _rows(dtype: np.dtype) -> Callable[[random.Random, int, list[Any]], np.ndarray]:
    def values(source: random.Random, count: int, targets: list[Any]) -> np.ndarray:
        rows = np.zeros(count, dtype)
        _fill_rows(rows, source, count, targets)
        return rows

    return values


def _fill_rows(rows: np.ndarray, source: random.Random, count: int, targets: list[Any]) -> None:
    for name in rows.dtype.names:
        field = rows.dtype[name]
        if field.names is not None:
            _fill_rows(rows[name], source, count, targets)
        elif h5py.check_ref_dtype(field):
            rows[name] = _references(source, count, targets)
        elif field.kind == "O":
            rows[name] = _texts(source, count, targets)
        elif field.kind == "S":
            rows[name] = [source.choice((b"", b"ab", b"xyz")) for _ in range(count)]
        else:
            rows[name] = np.frombuffer(_random_bytes(field.itemsize)(source, count, targets), field)


def _std(name: str) -> Callable[[], h5t.TypeID]:
    return lambda: getattr(h5t, name)


PLAIN: tuple[Datatype, ...] = (
    *map(_numpy, ("i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4")),
    *map(_numpy, ("<i8", ">i8", "<u8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8")),
    *map(_numpy, ("<c8", ">c8", "<c16", ">c16")),
    Datatype("complex f4be", _std("COMPLEX_IEEE_F32BE"), _random_bytes(8)),
    Datatype("complex f2le", _std("COMPLEX_IEEE_F16LE"), _random_bytes(4), may_be_left_out=True),
    Datatype("bool", lambda: h5t.py_create(np.dtype("?"), logical=True), _booleans),
    Datatype("enum i1", lambda: _enum("i1", {"A": -1, "B": 0, "C": 1}), _random_bytes(1)),
    Datatype("enum >u2", lambda: _enum(">u2", {"A": 1, "B": 256}), _random_bytes(2)),
    Datatype("opaque", lambda: _opaque(5, b"a tag"), _random_bytes(5)),
    Datatype("opaque without tag", lambda: _opaque(1, b""), _random_bytes(1)),
    Datatype("datetime", lambda: _opaque(8, b"NUMPY:<M8[ms]"), _random_bytes(8)),
    *(
        Datatype(f"bitfield {n}", _std(f"STD_{n}"), _random_bytes(int(n[1:-2]) // 8))
        for n in ("B8LE", "B16BE")
    ),
    _altered("i4 of 12 bits", h5t.STD_I32LE, _bits(12)),
    _altered("u2be of 7 bits at 3", h5t.STD_U16BE, _bits(7, 3)),
    _altered("u4 of 3 bytes", h5t.STD_U32LE, lambda tid: tid.set_size(3), may_be_left_out=True),
    _altered("bfloat16", h5t.IEEE_F32LE, _bfloat16),
    Datatype("long double", lambda: h5t.NATIVE_LDOUBLE, _long_doubles),
    *(
        _fixed_text(size, padding, charset)
        for size, padding, charset in (
            (1, h5t.STR_NULLPAD, h5t.CSET_ASCII),
            (6, h5t.STR_NULLTERM, h5t.CSET_UTF8),
            (5, h5t.STR_NULLPAD, h5t.CSET_ASCII),
            (6, h5t.STR_SPACEPAD, h5t.CSET_ASCII),
            (7, h5t.STR_SPACEPAD, h5t.CSET_UTF8),
        )
    ),
    Datatype("array i2 (2,)", _array_of(_std("STD_I16LE"), (2,)), _random_bytes(4)),
    Datatype("array f4be (2, 3)", _array_of(_std("IEEE_F32BE"), (2, 3)), _random_bytes(24)),
    Datatype("array of array", _array_of(_array_of(_std("STD_U8LE"), (2,)), (2,)), _random_bytes(4)),
    _plain_compound("compound", ("a", _std("STD_I32LE")), ("b", _std("IEEE_F64LE"))),
    _plain_compound("compound be", ("a", _std("STD_I32BE")), ("é b", _std("IEEE_F32BE"))),
    _plain_compound("compound of both orders", ("a", _std("STD_I16BE")), ("b", _std("STD_I16LE"))),
    _plain_compound("compound with gaps", ("a", _std("STD_I8LE")), ("b", _std("IEEE_F64LE")), gap=3),
    _plain_compound(
        "compound in compound",
        ("in", _compound(("x", _std("STD_U8LE")), ("y", _std("STD_U16LE")))),
        ("z", _std("STD_I64LE")),
    ),
    _plain_compound(
        "compound with array",
        ("a", _array_of(_std("STD_I16LE"), (3,))),
        ("b", _std("STD_U8LE")),
    ),
    _plain_compound("compound with opaque", ("o", lambda: _opaque(3, b"t")), ("b", _std("STD_B8LE"))),
)
"""Types whose values are in the dataset itself."""

HEAP: tuple[Datatype, ...] = (
    Datatype("text", lambda: h5t.py_create(h5py.string_dtype(), logical=True), _texts),
    Datatype("ascii text", lambda: h5t.py_create(h5py.string_dtype("ascii"), logical=True), _texts),
    Datatype("sequence i2", lambda: h5t.vlen_create(h5t.STD_I16LE), _sequences("<i2")),
    Datatype("sequence f8", lambda: h5t.vlen_create(h5t.IEEE_F64LE), _sequences("<f8")),
    Datatype(
        "sequence u4be", lambda: h5t.vlen_create(h5t.STD_U32BE), _sequences(">u4"), may_be_left_out=True
    ),
    Datatype("reference", lambda: h5t.STD_REF_OBJ, _references),
    Datatype("region", lambda: h5t.STD_REF_DSETREG, _regions, may_be_left_out=True),
    Datatype("rows", lambda: h5t.py_create(_ROW, logical=True), _rows(_ROW)),
    Datatype("nested rows", lambda: h5t.py_create(_NESTED, logical=True), _rows(_NESTED)),
)
"""Types whose values lie in a heap, or are references."""

IS_HEAP = frozenset(each.name for each in HEAP)


def datatype(name: str) -> Datatype:
    """The type of a name, as an example shows it."""
    return next(each for each in (*PLAIN, *HEAP) if each.name == name)
