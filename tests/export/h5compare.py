"""Compare two HDF5 files on h5py's low-level API: what they hold, not how they are laid out.

Shares no code with the library. Compared are links (kind, target, character set, order where tracked), the
kinds of objects and which names lead to the same one, datatypes member by member, dataspaces with their
limits, creation properties (layout class, chunk shape, filters, allocation and fill times, fill values),
attributes and all values: the bits of every number in the file's own type, text up to its padding, references
by the path of their target, regions by their selection. Not compared are bytes that are no values: padding
bits, gaps in compounds, what lies behind the end of a text.

    python h5compare.py ONE OTHER        prints the differences, one a line
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
from collections import deque

import h5py
import numpy as np
from h5py import h5, h5a, h5d, h5g, h5l, h5o, h5r, h5s, h5t

BLOCK = 16 * 2**20
READ_ALL_BELOW = 256 * 2**20
ERRORS = (OSError, RuntimeError, ValueError, TypeError, KeyError, OverflowError)


def compare(one, other):
    """Differences of two files, as (path, what) pairs; none when they are equal."""
    with contextlib.suppress(ImportError):
        import hdf5plugin  # noqa: F401
    with h5py.File(one, "r", locking=False) as a, h5py.File(other, "r", locking=False) as b:
        return Comparison(a, b).differences()


def address(item):
    low, high = h5g.get_objinfo(item).objno
    return int(low) | int(high) << 64


class Side:
    """One file: its objects by address, each with its shortest path."""

    def __init__(self, file):
        self.id = file.id
        self.paths = {address(h5g.open(file.id, b"/")): b"/"}
        todo = deque([b"/"])
        while todo:
            path = todo.popleft()
            group = h5g.open(self.id, path)
            for name, kind, at, *_ in self.links(group):
                if kind != h5l.TYPE_HARD or at in self.paths:
                    continue
                try:
                    item = h5o.open(group, name)
                except ERRORS:
                    continue
                self.paths[at] = path.rstrip(b"/") + b"/" + name
                if isinstance(item, h5g.GroupID):
                    todo.append(self.paths[at])

    def links(self, group):
        found = []
        group.links.iterate(
            lambda name, info: found.append(
                (
                    name,
                    int(info.type),
                    int(info.u),
                    int(info.cset),
                    int(info.corder) if info.corder_valid else -1,
                )
            ),
            info=True,
        )
        return sorted(found)

    def path(self, item):
        return self.paths.get(address(item), b"?")


class Comparison:
    def __init__(self, a, b):
        self.a, self.b = Side(a), Side(b)
        self.found = []

    def say(self, path, what):
        self.found.append((path.decode("utf-8", "backslashreplace"), what))

    def same(self, path, what, one, other):
        if one != other:
            self.say(path, f"{what}: {_short(one)} | {_short(other)}")
        return one == other

    def differences(self):
        one, other = (side.id.get_create_plist() for side in (self.a, self.b))
        self.same(b"/", "userblock", one.get_userblock(), other.get_userblock())
        paths, others = set(self.a.paths.values()), set(self.b.paths.values())
        for path in sorted(paths - others):
            self.say(path, "missing")
        for path in sorted(others - paths):
            self.say(path, "too much")
        for path in sorted(paths & others):
            try:
                self.compare_object(path)
            except ERRORS as error:
                self.say(path, f"not compared: {type(error).__name__}: {error}")
        return self.found

    def compare_object(self, path):
        one, other = h5o.open(self.a.id, path), h5o.open(self.b.id, path)
        if not self.same(path, "kind", type(one).__name__, type(other).__name__):
            return
        self.same(path, "comment", *(h5g.open(side.id, b"/").get_comment(path) for side in (self.a, self.b)))
        if isinstance(one, h5g.GroupID):
            self.compare_group(path, one, other)
        elif isinstance(one, h5d.DatasetID):
            self.compare_dataset(path, one, other)
        else:
            self.same(path, "type", signature(one, self.a), signature(other, self.b))
        self.compare_attributes(path, one, other)

    def compare_group(self, path, one, other):
        plists = [item.get_create_plist() for item in (one, other)]
        self.same(path, "link order flags", *(p.get_link_creation_order() for p in plists))
        self.same(path, "attribute order flags", *(p.get_attr_creation_order() for p in plists))
        links = [
            {link[0]: link for link in side.links(item)} for side, item in ((self.a, one), (self.b, other))
        ]
        self.same(path, "names", sorted(links[0]), sorted(links[1]))
        if plists[0].get_link_creation_order():
            orders = [[name for name, *_ in sorted(each.values(), key=lambda k: k[4])] for each in links]
            self.same(path, "order of links", *orders)
        for name in sorted(set(links[0]) & set(links[1])):
            child = path.rstrip(b"/") + b"/" + name
            described = [
                self.link(side, item, each[name])
                for side, item, each in zip((self.a, self.b), (one, other), links, strict=True)
            ]
            self.same(child, "link", *described)

    def link(self, side, group, link):
        name, kind, at, cset, _ = link
        if kind == h5l.TYPE_HARD:
            return ("hard", side.paths.get(at, b"?"), cset)
        if kind == h5l.TYPE_SOFT:
            return ("soft", group.links.get_val(name), cset)
        if kind == h5l.TYPE_EXTERNAL:
            return ("external", *group.links.get_val(name), cset)
        return ("user", kind, cset)

    def compare_dataset(self, path, one, other):
        types = one.get_type(), other.get_type()
        same_type = self.same(path, "type", signature(types[0], self.a), signature(types[1], self.b))
        if same_type and not types[0].committed() and not types[0].equal(types[1]):
            self.say(path, "type: HDF5 says they are not equal")
        same_space = self.same(path, "space", *(extent(item.get_space()) for item in (one, other)))
        plists = one.get_create_plist(), other.get_create_plist()
        for what, each in PROPERTIES.items():
            self.same(path, what, *map(each, plists))
        self.same(path, "fill value", *(fill(p, t) for p, t in zip(plists, types, strict=True)))
        if same_type and same_space:
            self.compare_values(path, one, other, types)

    def compare_values(self, path, one, other, types):
        try:
            for selection in blocks(one, other, types[0].get_size()):
                left = None
                try:
                    left = read(one, types[0], selection, self.a)
                except ERRORS:
                    continue  # what cannot be read of the original cannot be asked of the other
                right = read(other, types[1], selection, self.b)
                if left != right:
                    number = next(
                        (n for n, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0
                    )
                    self.say(
                        path, f"values from {selection}: {_short(left[number])} | {_short(right[number])}"
                    )
                    return
        except ERRORS as error:
            self.say(path, f"values not compared: {type(error).__name__}: {error}")

    def compare_attributes(self, path, one, other):
        names = [attribute_names(item) for item in (one, other)]
        self.same(path, "attributes", sorted(names[0]), sorted(names[1]))
        if not isinstance(one, h5t.TypeID):
            flags = [item.get_create_plist().get_attr_creation_order() for item in (one, other)]
            self.same(path, "attribute order flags", *flags)
            if flags[0]:
                ordered = [attribute_names(item, h5.INDEX_CRT_ORDER) for item in (one, other)]
                self.same(path, "order of attributes", *ordered)
        for name in sorted(set(names[0]) & set(names[1])):
            where = path + b"@" + name
            pair = h5a.open(one, name), h5a.open(other, name)
            types = pair[0].get_type(), pair[1].get_type()
            same = self.same(where, "type", signature(types[0], self.a), signature(types[1], self.b))
            if not (self.same(where, "space", *(extent(item.get_space()) for item in pair)) and same):
                continue
            try:
                left = read(pair[0], types[0], None, self.a)
            except ERRORS:
                continue
            try:
                self.same(where, "value", left, read(pair[1], types[1], None, self.b))
            except ERRORS as error:
                self.say(where, f"value not compared: {error}")


def _filters(properties):
    found = []
    for number in range(properties.get_nfilters()):
        code, flags, values, _ = properties.get_filter(number)
        keep = {5: 0, 6: 2}.get(code, 16)
        found.append((code, flags, tuple(values[:keep])))
    return found


PROPERTIES = {
    "layout": lambda p: (p.get_layout(), p.get_external_count() > 0),
    "chunks": lambda p: p.get_chunk() if p.get_layout() == h5d.CHUNKED else None,
    "filters": _filters,
    "allocation time": lambda p: p.get_alloc_time(),
    "fill time": lambda p: p.get_fill_time(),
    "track times": lambda p: p.get_obj_track_times(),
}


def attribute_names(item, index=h5.INDEX_NAME):
    names = []
    h5a.iterate(item, lambda name, *_: names.append(name), index_type=index)
    return names


def extent(space):
    kind = space.get_simple_extent_type()
    if kind != h5s.SIMPLE:
        return kind
    return kind, space.get_simple_extent_dims(), space.get_simple_extent_dims(True)


def signature(tid, side):
    """A datatype, member by member, as nested tuples."""
    named = (side.path(tid),) if tid.committed() else ()  # one without a name is a type like any other
    named = () if named == (b"?",) else named
    return (*named, *_signature(tid, side))


def _signature(tid, side):
    kind, size = tid.get_class(), tid.get_size()
    if kind == h5t.INTEGER:
        return (
            kind,
            size,
            tid.get_order(),
            tid.get_precision(),
            tid.get_offset(),
            tid.get_sign(),
            tid.get_pad(),
        )
    if kind == h5t.FLOAT:
        return (
            kind,
            size,
            tid.get_order(),
            tid.get_precision(),
            tid.get_offset(),
            tid.get_fields(),
            tid.get_ebias(),
            tid.get_norm(),
            tid.get_inpad(),
            tid.get_pad(),
        )
    if kind == h5t.STRING:
        variable = tid.is_variable_str()
        return kind, "variable" if variable else size, tid.get_cset(), tid.get_strpad()
    if kind == h5t.OPAQUE:
        return kind, size, tid.get_tag()
    if kind == h5t.ENUM:
        members = sorted((tid.get_member_name(n), tid.get_member_value(n)) for n in range(tid.get_nmembers()))
        return kind, signature(tid.get_super(), side), tuple(members)
    if kind == h5t.COMPOUND:
        return (
            kind,
            size,
            tuple(
                (tid.get_member_name(n), tid.get_member_offset(n), signature(tid.get_member_type(n), side))
                for n in range(tid.get_nmembers())
            ),
        )
    if kind == h5t.ARRAY:
        return kind, tid.get_array_dims(), signature(tid.get_super(), side)
    if kind in (h5t.VLEN, h5t.COMPLEX):
        return kind, signature(tid.get_super(), side)
    if kind == h5t.REFERENCE:
        return kind, tid.equal(h5t.STD_REF_OBJ), tid.equal(h5t.STD_REF_DSETREG)
    return kind, size, bytes(tid.copy().encode())  # bitfields and times


def fill(properties, tid):
    status = properties.fill_value_defined()
    if status != h5d.FILL_VALUE_USER_DEFINED:
        return status
    try:
        if tid.get_class() == h5t.STRING and not tid.is_variable_str():
            holder = np.zeros((), f"S{tid.get_size()}")
        else:
            holder = np.zeros((), tid.dtype)
        properties.get_fill_value(holder)
    except ERRORS:
        return status, "unreadable"
    if holder.dtype.hasobject:
        return status, _fill_objects(holder)
    return status, holder.tobytes()


def _fill_objects(holder):
    if holder.dtype.names:
        return [_fill_objects(holder[name]) for name in holder.dtype.names]
    value = holder.item()
    return bool(value) if isinstance(value, h5r.Reference) else repr(value or b"")


def blocks(one, other, itemsize):
    """Selections that cover a dataset: all of it, or what either side stores of a huge one."""
    if one.get_space().get_simple_extent_type() == h5s.NULL:
        return
    shape = one.shape
    if not shape or math.prod(shape) * itemsize <= BLOCK:
        yield None
        return
    if math.prod(shape) * itemsize > READ_ALL_BELOW:
        yield from _stored(one, other)
        return
    row = math.prod(shape[1:]) * itemsize
    step = max(1, BLOCK // max(1, row))
    for start in range(0, shape[0], step):
        yield (start, *(0,) * (len(shape) - 1)), (min(step, shape[0] - start), *shape[1:])


def _stored(one, other):
    starts = set()
    for item in (one, other):
        if item.get_create_plist().get_layout() == h5d.CHUNKED:
            item.chunk_iter(lambda info: starts.add((item, tuple(info.chunk_offset))))  # noqa: B023
        elif item.get_offset() is not None:
            raise ValueError("too large to compare")
    for item, start in sorted(starts, key=lambda pair: pair[1]):
        edges = item.get_create_plist().get_chunk()
        yield start, tuple(min(e, n - a) for a, e, n in zip(start, edges, item.shape, strict=True))


def read(item, tid, selection, side):
    """Values as a flat list of canonical Python values."""
    if item.get_space().get_simple_extent_type() == h5s.NULL:
        return []
    count = item.shape if selection is None else selection[1]
    is_region = has_region(tid)
    if is_region:
        dtype = tid.dtype
        holder = np.zeros(count, dtype)
        memory = h5t.py_create(dtype)
    else:
        holder = np.zeros(count, f"V{tid.get_size()}")
        memory = tid.copy()
    if isinstance(item, h5a.AttrID):
        if holder.size:
            item.read(holder, mtype=memory)
    else:
        space = item.get_space()
        inside = space.copy()
        if selection is not None:
            space.select_hyperslab(*selection)
            inside = h5s.create_simple(count)
        if holder.size:
            item.read(inside, space, holder, memory)
    if is_region:
        return [objects(value, side) for value in np.asarray(holder).reshape(-1).tolist()]
    if is_plain(tid):
        size = tid.get_size()
        data = holder.tobytes()
        return [data[n : n + size] for n in range(0, len(data), size)]
    return [canonical(tid, bytes(value), side) for value in holder.reshape(-1)]


def has_region(tid):
    kind = tid.get_class()
    if kind == h5t.COMPOUND:
        return any(has_region(tid.get_member_type(n)) for n in range(tid.get_nmembers()))
    if kind in (h5t.ARRAY, h5t.VLEN):
        return has_region(tid.get_super())
    return kind == h5t.REFERENCE and tid.equal(h5t.STD_REF_DSETREG)


def is_plain(tid):
    kind = tid.get_class()
    if kind in (h5t.INTEGER, h5t.FLOAT):
        return tid.get_precision() == 8 * tid.get_size()
    if kind in (h5t.ENUM, h5t.COMPLEX):
        return is_plain(tid.get_super())
    return kind in (h5t.OPAQUE, h5t.BITFIELD, h5t.TIME)


def canonical(tid, data, side):
    """One value in its own type, from its memory."""
    kind = tid.get_class()
    if kind in (h5t.INTEGER, h5t.FLOAT):
        order = "big" if tid.get_order() == h5t.ORDER_BE else "little"
        return int.from_bytes(data, order) >> tid.get_offset() & (1 << tid.get_precision()) - 1
    if kind == h5t.ENUM:
        return canonical(tid.get_super(), data, side)
    if kind == h5t.STRING:
        if tid.is_variable_str():
            pointer = int.from_bytes(data, sys.byteorder)
            return ctypes.string_at(pointer) if pointer else b""
        return {
            h5t.STR_NULLTERM: lambda: data.partition(b"\0")[0],
            h5t.STR_NULLPAD: lambda: data.rstrip(b"\0"),
            h5t.STR_SPACEPAD: lambda: data.rstrip(b" "),
        }[tid.get_strpad()]()
    if kind == h5t.COMPOUND:
        parts = []
        for n in range(tid.get_nmembers()):
            member, start = tid.get_member_type(n), tid.get_member_offset(n)
            parts.append(canonical(member, data[start : start + member.get_size()], side))
        return tuple(parts)
    if kind == h5t.ARRAY:
        return _items(tid.get_super(), data, side)
    if kind == h5t.VLEN:
        half = len(data) // 2
        length, pointer = (int.from_bytes(part, sys.byteorder) for part in (data[:half], data[half:]))
        inner = tid.get_super()
        return _items(inner, ctypes.string_at(pointer, length * inner.get_size()) if length else b"", side)
    if kind == h5t.REFERENCE:
        if not tid.equal(h5t.STD_REF_OBJ):
            raise TypeError("a reference of HDF5 1.12")
        at = int.from_bytes(data, sys.byteorder)
        return side.paths.get(at, b"dangling") if at else b""
    return data


def _items(tid, data, side):
    size = tid.get_size()
    return tuple(canonical(tid, data[n : n + size], side) for n in range(0, len(data), size))


def objects(value, side):
    """A value as h5py gives it, references as their targets."""
    if isinstance(value, h5r.RegionReference):
        if not value:
            return "null"
        try:
            space = h5r.get_region(value, side.id)
            path = side.path(h5r.dereference(value, side.id))
        except ERRORS:
            return "dangling"
        if space.get_select_type() == h5s.SEL_POINTS:
            chosen = np.asarray(space.get_select_elem_pointlist()).tolist()
        elif space.get_select_type() == h5s.SEL_HYPERSLABS:
            chosen = np.asarray(space.get_select_hyper_blocklist()).tolist()
        else:
            chosen = []
        return path, space.get_select_type(), space.get_select_npoints(), chosen
    if isinstance(value, h5r.Reference):
        try:
            return side.path(h5r.dereference(value, side.id)) if value else "null"
        except ERRORS:
            return "dangling"
    if isinstance(value, (tuple, list, np.ndarray)):
        return [objects(item, side) for item in value]
    return "null" if value == 0 else value


def _short(value):
    text = repr(value)
    return text if len(text) < 160 else text[:157] + "..."


if __name__ == "__main__":
    for where, what in compare(sys.argv[1], sys.argv[2]):
        print(f"{where}: {what}")
