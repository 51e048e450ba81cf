"""Copying datasets whose values lie in other files: virtual datasets and external raw files.

h5py reads them only where the file lies, by local path, and only when every file that HDF5 would open for
it, directly or through others, is one that may be read (``other_files``) and is the one that HDF5 finds.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5p, h5t

from .dataset_context import DatasetContext
from .h5_chunk_utils import chunk_locations
from .hyperslabs import Box
from .linked_files import HDF5File, Place
from .object_names import absolute, decode_name, encode_name, printable
from .opened_object import OpenedDataset
from .other_files import MissingFileError
from .reasons import CannotRepresentError, reading
from .virtual_sources import SAME_FILE, VirtualSource, virtual_sources
from .whole_chunks import check_whole, touched

MAX_DEPTH = 16
"""Virtual datasets that are made of virtual datasets."""


def open_foreign(dataset: h5py.Dataset, context: DatasetContext) -> h5py.Dataset:
    """The dataset as h5py may read it, after looking at where its values lie.

    Parameters
    ----------
    dataset : h5py.Dataset
        Virtual, or stored in external raw files.
    context : DatasetContext
        Its file and the others.

    Returns
    -------
    h5py.Dataset
        To be used in place of ``dataset``, which may be closed.

    Raises
    ------
    CannotRepresentError
        When a source must not or cannot be read.
    """
    _check(dataset, context.file, context, MAX_DEPTH)
    if dataset.is_virtual:
        if _has_references(dataset.id.get_type()) and not _is_of_one_file(dataset):
            raise CannotRepresentError("a virtual dataset of references, which hold in their own file")
        return dataset
    return _open_beside_file(dataset)


def check_sources(dataset: h5py.Dataset, context: DatasetContext) -> None:
    """Refuse a virtual dataset of whose sources a chunk is not stored whole (``whole_chunks``).

    Raises
    ------
    CannotRepresentError
        The message names source and chunk.
    """
    if dataset.is_virtual:
        _check_sources(dataset, context.file, context)


def _check_sources(dataset: h5py.Dataset, file: HDF5File, context: DatasetContext) -> None:
    boxes: dict[tuple[str, str], list[Box | None]] = {}
    for source in virtual_sources(dataset):
        boxes.setdefault((source.file, source.dataset), []).append(source.source)
    for (name, path), taken in boxes.items():
        with contextlib.suppress(MissingFileError), contextlib.ExitStack() as stack:
            other = file if name == SAME_FILE else stack.enter_context(context.files.borrowed(name, file))
            place = context.files.resolve(Place(other, other.inventory.root), absolute(path.lstrip("/")))
            if place is None or place.found.kind != "dataset":
                continue
            found = place.file.dataset(place.found)
            if found.is_virtual:
                _check_sources(found, place.file, context)
            elif found.chunks is not None:
                _check_chunks(found, path, taken)


def _check_chunks(source: h5py.Dataset, path: str, taken: list[Box | None]) -> None:
    opened = OpenedDataset(source.id)
    with reading("its sources"):
        table = chunk_locations(source.id)
    rows = np.zeros(len(table), bool)
    for box in taken:
        rows |= touched(box, table, opened)
    try:
        check_whole(opened, table[rows])
    except CannotRepresentError as error:
        raise CannotRepresentError(f"its source {printable(path)}: {error}") from error


def _check(dataset: h5py.Dataset, file: HDF5File, context: DatasetContext, depth: int) -> None:
    """Raise when h5py must not read a dataset."""
    with reading("its sources"):
        properties = dataset.id.get_create_plist()
        is_virtual = properties.get_layout() == h5d.VIRTUAL
    if is_virtual:
        if not depth:
            raise CannotRepresentError(f"virtual datasets inside one another, more than {MAX_DEPTH}")
        for source in {(s.file, s.dataset): s for s in virtual_sources(dataset)}.values():
            _check_source(source, file, context, depth)
    elif properties.get_external_count():
        names = [decode_name(properties.get_external(n)[0]) for n in range(properties.get_external_count())]
        for name in names:
            _check_judged(file, name)
            context.files.neighbourhood.locate(name, file.location, by_last_part=False)
        if depth < MAX_DEPTH and not all(Path(name).is_absolute() for name in names):
            raise CannotRepresentError("its source is in raw files, for which HDF5 looks elsewhere")


def _check_source(source: VirtualSource, file: HDF5File, context: DatasetContext, depth: int) -> None:
    if source.file == SAME_FILE:
        _check_place(Place(file, file.inventory.root), source.dataset, context, depth)
        return
    _check_judged(file, source.file)
    try:
        with context.files.borrowed(source.file, file) as other:
            _check_place(Place(other, other.inventory.root), source.dataset, context, depth)
    except MissingFileError:
        name = Path(source.file)
        if name.exists() or Path(name.name).exists():
            raise CannotRepresentError(
                f"its source {printable(source.file)} is missing, and HDF5 would take another"
            ) from None
        # else HDF5 shows fill values for what is not there, and so do we


def _check_place(start: Place, name: str, context: DatasetContext, depth: int) -> None:
    place = context.files.resolve(start, absolute(name.lstrip("/")))
    if place is not None and place.file is not start.file:
        _check_judged(start.file, place.file.name)
    if place is not None and place.found.kind == "dataset":
        _check(place.file.dataset(place.found), place.file, context, depth - 1)


def _check_judged(file: HDF5File, name: str) -> None:
    if not file.is_judged:
        raise CannotRepresentError(
            f"its values are in another file ({printable(name)}), and h5py reads those of a local file only"
        )


def _open_beside_file(dataset: h5py.Dataset) -> h5py.Dataset:
    """The dataset, with raw files looked for beside the file and not in the working directory."""
    file, name = dataset.file, encode_name(dataset.name)
    access = h5p.create(h5p.DATASET_ACCESS)
    access.set_efile_prefix(b"${ORIGIN}")
    dataset.id.close()  # HDF5 refuses another prefix while the dataset is open
    with reading():
        return h5py.Dataset(h5d.open(file.id, name, access))


def _is_of_one_file(dataset: h5py.Dataset) -> bool:
    return all(source.file == SAME_FILE for source in virtual_sources(dataset))


def _has_references(tid: h5t.TypeID) -> bool:
    match tid.get_class():
        case h5t.REFERENCE:
            return True
        case h5t.ARRAY | h5t.VLEN:
            return _has_references(tid.get_super())
        case h5t.COMPOUND:
            return any(_has_references(tid.get_member_type(n)) for n in range(tid.get_nmembers()))
        case _:
            return False
