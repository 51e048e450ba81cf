"""Making one dataset of the new file: its creation properties, filters and fill value.

A filter that HDF5 lacks here is left out, and so are all of them when HDF5 refuses them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from h5py import h5d, h5p, h5t, h5z

from ...hdf5_types.fill import set_fill
from ...hdf5_types.properties import add_filter, dataset_properties, make_dataset_properties
from ...hdf5_types.references import References
from ...hdf5_types.spaces import UNLIMITED, dims_of, space_from_json
from .nursery import Nursery
from .report import ToHdf5Report

PROBLEMS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError),
    *(OSError, RuntimeError, TypeError, ValueError),
)
"""What h5py and numpy raise for what HDF5 cannot do, and for descriptions that are none."""

_CHUNK_BYTES = 2**20
_MOST_CHUNK_BYTES = 2**32 - 1

Filters = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """What a new dataset shall be.

    Attributes
    ----------
    path : str
        Its path in the document, for the report.
    tid : h5py.h5t.TypeID
        Its datatype, committed or not.
    shape : dict
        Its dataspace.
    creation : dict
        Its creation properties, with the dims of chunks.
    """

    path: str
    tid: h5t.TypeID
    shape: Mapping[str, Any]
    creation: Mapping[str, Any]

    @property
    def filters(self) -> Filters:
        """The filters of the original."""
        return list(self.creation.get("filters", []))


def usable_filters(plan: DatasetPlan, report: ToHdf5Report) -> Filters:
    """The filters of the original that are installed here."""
    missing = [entry for entry in plan.filters if not h5z.filter_avail(entry["id"])]
    if missing:
        names = ", ".join(str(entry.get("name", entry["id"])) for entry in missing)
        report.change(plan.path, f"written without filters that are not installed here: {names}")
    return [entry for entry in plan.filters if entry not in missing]


def make_dataset(
    nursery: Nursery, plan: DatasetPlan, filters: Filters, references: References, report: ToHdf5Report
) -> h5d.DatasetID:
    """Make a dataset that has its own name later.

    Parameters
    ----------
    nursery : Nursery
        Where it is until then.
    plan : DatasetPlan
        What it shall be.
    filters : sequence of mapping
        Those of its filters that are to be used.
    references : References
        The objects of the new file, for a fill value that refers to one.
    report : ToHdf5Report
        Collects what is otherwise than in the original.
    """
    creation = _stored_here(plan, report)
    _check_chunks(creation, plan.tid.get_size())
    properties = make_dataset_properties(creation)
    try:
        set_fill(plan.tid.copy(), properties, plan.creation.get("fillValue"), references)
    except PROBLEMS as error:
        report.leave_out(plan.path, f"its fill value: {error}")
    space = space_from_json(plan.shape)
    unfiltered = properties.copy()
    try:
        for entry in filters:
            _check_filter(entry)
            add_filter(properties, entry)
        return h5d.create(nursery.folder, nursery.name(), plan.tid, space, dcpl=properties)
    except PROBLEMS as error:
        if not filters:
            raise
        report.change(plan.path, f"written without its filters, which cannot be used here: {error}")
        return h5d.create(nursery.folder, nursery.name(), plan.tid, space, dcpl=unfiltered)


def has_all_filters(dataset: h5d.DatasetID, plan: DatasetPlan) -> bool:
    """Whether a new dataset has the filters of the original, with the same parameters."""
    made: h5p.PropDCID = dataset.get_create_plist()
    return list(dataset_properties(made).get("filters", [])) == plan.filters


def _stored_here(plan: DatasetPlan, report: ToHdf5Report) -> Mapping[str, Any]:
    """Creation properties without values in other files."""
    layout = plan.creation.get("layout", {})
    if layout.get("class") != "H5D_VIRTUAL" and "externalStorage" not in layout:
        return plan.creation
    is_virtual = layout.get("class") == "H5D_VIRTUAL"
    what = "a virtual dataset" if is_virtual else "values in external raw files"
    report.change(plan.path, f"{what}, written with its values")
    rest = {name: part for name, part in plan.creation.items() if name not in ("layout", "allocTime")}
    if UNLIMITED not in plan.shape.get("maxdims", ()):
        return rest
    return {**rest, "layout": {"class": "H5D_CHUNKED", "dims": _chunk_dims(plan)}}


def _check_filter(described: Mapping[str, Any]) -> None:
    """Refuse deflate without a level: HDF5 finds out when it writes, and then cannot close the file."""
    if described["id"] == h5z.FILTER_DEFLATE:
        values = described.get("values")
        if not isinstance(values, list) or len(values) != 1 or values[0] not in range(10):
            raise ValueError(
                f"deflate with the parameters {str(values)[:80]}; expected one level from 0 to 9"
            )


def _check_chunks(creation: Mapping[str, Any], itemsize: int) -> None:
    """Refuse chunks that are too large for HDF5, whose own check their size may overflow."""
    layout = creation.get("layout", {})
    nbytes = math.prod(layout["dims"]) * itemsize if layout.get("class") == "H5D_CHUNKED" else 0
    if nbytes > _MOST_CHUNK_BYTES:
        raise ValueError(f"chunks of {nbytes:,} bytes; HDF5 has at most {_MOST_CHUNK_BYTES:,}")


def _chunk_dims(plan: DatasetPlan) -> list[int]:
    """Chunks of about a mebibyte, for a dataset that grows and had none."""
    dims = [max(1, extent) for extent in dims_of(plan.shape)]
    for axis in range(len(dims)):
        row = math.prod(dims[axis + 1 :]) * plan.tid.get_size()
        dims[axis] = max(1, min(dims[axis], _CHUNK_BYTES // max(1, row)))
    return dims
