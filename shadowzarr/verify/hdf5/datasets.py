"""One dataset and the array that stands for it: shape, data type, fill value and values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import h5py
import numpy as np
import zarr

from .. import mappings
from ..original import Choice
from ..regions import Region, chunks_in, region_text, stored_regions
from ..report import Plain
from .attributes import Optional
from .dimension_scales import wanted_names
from .fill_values import same_fill, states_fill
from .kinds import Form, Kind, all_uses, describe, fits_struct, is_bytes, kind_of, misread, shown_by
from .marks import marks
from .members import Member, WrongMembersError, take_members
from .neighbours import NotToBeReadError
from .original_file import READ_ERRORS
from .original_values import read_dataset
from .region_references import described_region, selects
from .stored_chunks import stored_coordinates
from .structure import Pair, Structure
from .trusted import Trusted
from .values import element, mismatches, text_items

POINTER_BYTES = 64
"""What an element of text, or a reference, is taken to cost in memory."""


class _Stop(Exception):  # noqa: N818 - ends the comparison of one dataset
    """A dataset has been found different or not comparable, and the difference is reported."""


def added_attributes(
    kind: Kind | None, pair: Pair, data_type: Any, given: Mapping[str, Any], *, is_specification: bool
) -> dict[str, Any]:
    """What the convention adds to an array's attributes, for `compare_attributes`.

    Parameters
    ----------
    kind : Kind or None
        What zarr must show.
    pair : Pair
        The dataset and its node.
    data_type : JSON
        As the node's metadata names it; text that is not UTF-8 has other types than ``string``, and a
        group has none.
    given : mapping
        The node's attributes.
    is_specification : bool
        Whether it is a cached specification, which needs no ``_DTYPE``.
    """
    rank = _rank(pair.item)
    added: dict[str, Any] = {"_ARRAY_DIMENSIONS": Optional(lambda value: _wrong_dimensions(value, rank))}
    if kind is None:
        return added
    shape = (0,) if pair.item.shape is None else pair.item.shape
    found = marks(kind if pair.item.shape is not None else replace(kind, axes=()), shape, data_type, given)
    if is_specification and "_DTYPE" in found:
        label = found["_DTYPE"]
        found["_DTYPE"] = Optional(lambda value: _wrong(label, value))
    if pair.item.shape is None:
        found["_NULL_DATASPACE"] = True
    return added | found


def _rank(dataset: h5py.Dataset) -> int | None:
    try:
        return None if dataset.shape is None else len(dataset.shape)
    except READ_ERRORS:
        return None


def _wrong(wanted: Any, value: Any) -> str:
    return "" if wanted == value else repr(wanted)


def _wrong_dimensions(value: Any, rank: int | None) -> str:
    named = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return "" if named and len(value) == rank else f"{rank} names"


def dataset_kind(dataset: h5py.Dataset) -> Kind | None:
    """What zarr must show for a dataset; None when h5py cannot read its type."""
    try:
        return kind_of(dataset.dtype)
    except READ_ERRORS:
        return None


def compare_dataset(
    structure: Structure, pair: Pair, kind: Kind | None, choice: Choice, *, is_specification: bool
) -> None:
    """Compare one dataset with the array that stands for it, and report at most one difference."""
    comparison = _Comparison(structure, pair, choice)
    try:
        if kind is None:
            comparison.stop("unreadable original", "a type that h5py cannot read", "a node")
        why = misread(kind) if kind is not None and pair.item.shape is not None else ""
        if why:
            comparison.stop("not to be judged", Plain(why), "a node")
        comparison.use_readable()
        comparison.run(kind, is_specification=is_specification)
    except _Stop:
        pass


class _Comparison:
    def __init__(self, structure: Structure, pair: Pair, choice: Choice) -> None:
        self._structure = structure
        self._dataset: h5py.Dataset = pair.item
        self._path = pair.path
        self._pair = pair
        self._choice = choice
        self._tally = structure.tally
        self._met_bytes = False
        self._shows_fill = True

    def use_readable(self) -> None:
        """Read values where h5py, or we, may read them."""
        try:
            self._dataset = self._structure.original.readable(self._dataset)
            self._pair = replace(self._pair, item=self._dataset)
            self._trusted = Trusted(
                self._structure.original, self._structure.references, self._dataset, self._path
            )
        except NotToBeReadError as error:
            self.stop("not to be judged", Plain(str(error)), "a node")
        except READ_ERRORS as error:
            self.stop("unreadable original", Plain(str(error)), "a node")

    def stop(self, kind: str, original: Any, references: Any) -> None:
        """Report a difference and end the comparison."""
        self._tally.differ(self._path, kind, original, references)
        raise _Stop

    def run(self, kind: Kind | None, *, is_specification: bool) -> None:
        """Compare metadata, then values."""
        assert kind is not None  # noqa: S101 - the caller looked
        node = self._opened()
        if kind.form is Form.RAGGED or (kind.form is Form.COMPOUND and not isinstance(node, zarr.Array)):
            self._compare_members(kind, node)
            return
        if not isinstance(node, zarr.Array):
            self.stop("node type", "a dataset", "a group")
            return
        self._tally.count("arrays")
        shape, as_scalar = self._shape(kind, is_specification, node)
        if node.shape != shape:
            self.stop("shape", shape, node.shape)
        fits = kind.form is not Form.COMPOUND or fits_struct(kind)
        if not fits or not shown_by(kind, node.dtype):
            self.stop("data type", Plain(describe(kind)), Plain(node.dtype))
        for use in kind.uses:
            self._tally.used(use)
        self._compare_names(kind, node)
        self._compare_fill(kind, node)
        self._compare_values(kind, node, as_scalar)
        self._check_bytes(kind, node)

    def _compare_members(self, kind: Kind, node: Any) -> None:
        """Compare sequences, or a compound by its fields, with a group."""
        if isinstance(node, zarr.Array):
            self.stop("node type", "sequences", "an array")
        self._tally.count("arrays")
        shape = (0,) if self._dataset.shape is None else tuple(self._dataset.shape)
        member = self._taken(replace(kind, axes=()) if self._dataset.shape is None else kind, node, shape)
        if self._dataset.shape is None:
            self._tally.used(mappings.NULL_DATASPACE)
        if kind.form is Form.COMPOUND:
            self._tally.used(mappings.COMPOUND_COLUMNS)
        for use in all_uses(kind):
            self._tally.used(use)
        if 0 not in shape:
            self._compare_each(kind, member)

    def _taken(self, kind: Kind, node: Any, shape: tuple[int, ...]) -> Member:
        try:
            return take_members(node, kind, shape)
        except WrongMembersError as error:
            self.stop(
                "sequences" if kind.form is Form.RAGGED else "members",
                Plain(describe(kind)),
                Plain(str(error)),
            )
        except Exception as error:  # noqa: BLE001 - zarr, codecs and the store may raise anything
            self.stop("unreadable references", "a node", Plain(f"{type(error).__name__}: {error}"))
        raise AssertionError  # stop raises

    def _compare_each(self, kind: Kind, member: Member) -> None:
        shape = self._dataset.shape
        chunk_shape = self._dataset.chunks or (shape and (1, *shape[1:]))
        for region in self._choice.regions(self._path, shape, chunk_shape, POINTER_BYTES):
            self._check_trusted(region, None)
            original = self._read_elements(kind, region)
            try:
                found = member.first_difference(original, region, self.leads)
            except Exception as error:  # noqa: BLE001 - zarr, codecs and the store may raise anything
                self._tally.check_reads()
                reason = Plain(f"{type(error).__name__}: {error}")
                self.stop("unreadable references", Plain(f"values at {region_text(region)}"), reason)
            if found is not None:
                self.stop("values", Plain(f"{found[1]}: {found[0]}"), Plain(found[2]))
            self._tally.count("chunks", chunks_in(region, chunk_shape))
            self._tally.count("bytes", _nbytes(original))

    def _read_elements(self, kind: Kind, region: Region) -> Any:
        """A region as h5py shows it, in an array also when it is one element that is itself an array."""
        try:
            if self._dataset.dtype.hasobject or kind.form is not Form.COMPOUND:
                values = self._dataset[region] if region else self._dataset[()]
            else:
                values = read_dataset(self._dataset, region, replace(kind, axes=()), region)
        except READ_ERRORS as error:
            self.stop("unreadable original", Plain(str(error)), "a group")
        if region or isinstance(values, np.void) or kind.form is Form.COMPOUND or kind.axes:
            return np.asarray(values)
        holder = np.empty((), dtype=object)
        holder[()] = values
        return holder

    def _opened(self) -> Any:
        try:
            return self._structure.references.open(self._path)
        except Exception as error:  # noqa: BLE001 - zarr and the store may raise anything
            self.stop("unreadable references", "a node", Plain(f"{type(error).__name__}: {error}"))

    def _shape(
        self, kind: Kind, is_specification: bool, node: zarr.Array[Any]
    ) -> tuple[tuple[int, ...], bool]:
        """The right shape, and whether a specification of one element became a scalar."""
        shape = self._dataset.shape
        if shape is None:
            self._tally.used(mappings.NULL_DATASPACE)
            return (0,), False
        if is_specification and math.prod(shape) == 1 and shape and node.shape == ():
            self._tally.used(mappings.SPECIFICATION_SCALAR)
            return (), True
        return (*shape, *kind.axes), False

    def _compare_names(self, kind: Kind, node: zarr.Array[Any]) -> None:
        """Compare the names of the axes with the dimension scales."""
        names = wanted_names(self._structure, self._pair)
        wanted = (*names, *(None,) * len(kind.axes)) if names is not None else None
        given = getattr(node.metadata, "dimension_names", None)
        if given != wanted:
            self._tally.differ(self._path, "dimension names", wanted, given)
        elif wanted is not None:
            self._tally.used(mappings.DIMENSION_NAME)

    def _compare_fill(self, kind: Kind, node: zarr.Array[Any]) -> None:
        try:
            properties = self._dataset.id.get_create_plist()
            defined = properties.fill_value_defined()
            fill = self._dataset.fillvalue
        except READ_ERRORS:
            return  # h5py cannot say, so there is nothing to hold the references to
        never = properties.get_fill_time() == h5py.h5d.FILL_TIME_NEVER
        if defined == h5py.h5d.FILL_VALUE_UNDEFINED or (never and not same_fill(kind, fill, node)):
            self._tally.used(mappings.UNDEFINED_FILL)
            fill = np.zeros_like(fill)
        if same_fill(kind, fill, node):
            return
        stated = self._structure.references.nodes[self._path].metadata.get("fill_value")
        if states_fill(np.asarray(fill).reshape(-1)[0] if kind.axes else fill, stated):
            self._tally.used(mappings.FILL_PAYLOAD)
            self._shows_fill = False
        else:
            self._tally.differ(self._path, "fill value", fill, stated)

    def _regions(self, node: zarr.Array[Any], itemsize: int) -> Iterator[Region]:
        """What is compared; of a large array only chunks that hold something."""
        shape, chunk_shape = node.shape, node.chunks
        if self._choice.mode == "full" and self._shows_fill:
            rfs = self._structure.references.rfs
            stored = stored_coordinates(rfs, self._path, self._dataset, shape, chunk_shape, itemsize)
            if stored is not None:
                self._tally.used(mappings.NEVER_WRITTEN)
                return stored_regions(stored, shape, chunk_shape, itemsize)
        return self._choice.regions(self._path, shape, chunk_shape, itemsize)

    def _compare_values(self, kind: Kind, node: zarr.Array[Any], as_scalar: bool) -> None:
        if self._dataset.shape is None or 0 in node.shape:
            return
        itemsize = node.dtype.itemsize if kind.form in (Form.PLAIN, Form.COMPOUND) else POINTER_BYTES
        for region in self._regions(node, itemsize):
            given = self.read_references(node, region, kind, as_scalar)
            self._check_trusted(region, node)
            original = self.read_original(region, kind, as_scalar)
            self._compare_region(kind, region, original, given)
            self._tally.count("chunks", chunks_in(region, node.chunks))
            self._tally.count("bytes", _nbytes(original))

    def _check_bytes(self, kind: Kind, node: zarr.Array[Any]) -> None:
        """Text may be held as bytes only when some of it is not UTF-8, which a sample may not meet."""
        if kind.form is not Form.TEXT or not is_bytes(node.dtype):
            return
        if self._choice.mode == "full" and not self._met_bytes:
            self.stop("data type", Plain("text that is UTF-8"), Plain(node.dtype))
        self._tally.used(mappings.TEXT_AS_BYTES)

    def _check_trusted(self, region: Region, node: zarr.Array[Any] | None) -> None:
        """Stop where h5py would show what was in memory."""
        try:
            why = self._trusted.complaint(region, node)
        except NotToBeReadError as error:
            self.stop("not to be judged", Plain(str(error)), "values")
        except READ_ERRORS as error:
            why = str(error)
        if why:
            self.stop("unreadable original", Plain(why), "values")

    def read_original(self, region: Region, kind: Kind, as_scalar: bool) -> Any:
        """A region as h5py shows it."""
        try:
            if as_scalar:
                return self._dataset[()].reshape(())
            return read_dataset(self._dataset, region[: len(region) - len(kind.axes)], kind, region)
        except READ_ERRORS as error:
            self.stop("unreadable original", Plain(str(error)), "an array")

    def read_references(self, node: zarr.Array[Any], region: Region, kind: Kind, as_scalar: bool) -> Any:
        """A region as zarr shows it; when it cannot, the original may be what is damaged."""
        try:
            return node[region] if region else node[()]
        except Exception as error:  # noqa: BLE001 - zarr, codecs and the store may raise anything
            self._tally.check_reads()
            self._check_trusted(region, None)
            self.read_original(region, kind, as_scalar)
            reason = Plain(f"{type(error).__name__}: {error}")
            self.stop("unreadable references", Plain(f"values at {region_text(region)}"), reason)

    def _compare_region(self, kind: Kind, region: Region, original: Any, given: Any) -> None:
        if np.shape(given) != np.shape(original):
            self.stop("values", Plain(f"shape {np.shape(original)}"), Plain(f"shape {np.shape(given)}"))
        if kind.form is Form.TEXT and not self._met_bytes:
            self._met_bytes = any(isinstance(item, bytes) for item in text_items(original).reshape(-1))
        differing = mismatches(kind, original, given, leads=self.leads)
        if not differing.any():
            return
        place = tuple(map(int, np.argwhere(differing)[0])) if differing.ndim else ()
        at = tuple(part.start + index for part, index in zip(region, place, strict=True))
        self.stop(
            "reference" if kind.form in (Form.REFERENCE, Form.REGION) else "values",
            Plain(f"{element(kind, original, place)!r} at {at}, {int(differing.sum())} of {differing.size}"),
            element(_shown(kind), given, place),
        )

    def leads(self, reference: Any, path: Any) -> bool:
        """Whether a reference and a path lead to the same object; an empty path is a null reference."""
        target = self._structure.original.target(reference, self._dataset) if reference else None
        if target is not None and isinstance(reference, h5py.RegionReference) and path != "":
            described = described_region(path)
            if described is None or not selects(reference, self._dataset, described[1]):
                return False
            path = described[0]
        if target is not None and (target in self._structure.placed or target in self._structure.missing):
            return isinstance(path, str) and self._structure.leads(target, path)
        self._tally.used(mappings.DANGLING_REFERENCE if reference else mappings.NULL_REFERENCE)
        is_its_name = target is not None and self._structure.original.identity_at(path) == target
        return bool(path == "") or is_its_name


def _shown(kind: Kind) -> Kind:
    """The kind in which the references' side of a difference is shown."""
    return Kind(Form.TEXT) if kind.form in (Form.REFERENCE, Form.REGION) else kind


def _nbytes(values: Any) -> int:
    array = np.asarray(values)
    if array.dtype != object:
        return array.nbytes
    return sum(len(item) for item in array.reshape(-1) if isinstance(item, bytes | str))
