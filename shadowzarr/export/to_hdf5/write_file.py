"""to_hdf5 itself: a new file beside its final name, the objects, their values, and the rename."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
from h5py import h5f, h5fd, h5g, h5o, h5p, h5t

from ...access.locations import is_remote, local_path, written_path
from ...access.watched import making, working_on
from ...errors import InvalidReferencesError, OutputError, ShadowzarrError
from ...hdf5_types.names import path_to_text, text_to_name
from ...hdf5_types.properties import set_orders
from ...hdf5_types.text import json_to_bytes
from ...hdf5_types.types_from_json import type_from_json
from ...refs.document import Rfs
from ...replacing import replaced
from ...store.rfs_store import RfsStore
from ...store.store_options import load_with
from .attributes import write_attributes
from .creation import PROBLEMS
from .datasets import DatasetWriter
from .described import DescribedFile
from .links import write_links
from .nursery import Nursery
from .output import Output
from .references import NewReferences
from .report import ToHdf5Report

_LOWEST_VERSION = {2: h5f.LIBVER_V18, 3: h5f.LIBVER_V110}


def to_hdf5(
    refs: str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    **options: Any,
) -> ToHdf5Report:
    """Write the HDF5 file that a reference file system describes.

    Values are read through the references, so the source files have to be there. With the ``hdf5`` section
    that `generate_rfs` writes the new file equals the original in types, spaces, values, attributes, links
    and fill values; without it, it is what the Zarr side suggests.

    Parameters
    ----------
    refs : str, path or mapping
        As for `load_rfs`.
    path : str or path-like
        The file to write. It appears under this name when it is complete.
    overwrite : bool, optional
        Whether a file of that name is replaced.
    **options
        As for `RfsStore`.

    Returns
    -------
    ToHdf5Report
        What was written, and by name what was left out or is not as in the original.

    Raises
    ------
    OutputError
        When the file exists already or cannot be written.
    UsageError
        When the path is a URL.
    InvalidReferencesError
        When it is not a reference file system that can be read here.
    ReadError, SourceError
        When values cannot be read.
    """
    target = written_path(path)
    _check(target, overwrite=overwrite)
    _load_filters()
    rfs = load_with(refs, options)
    _check_no_source(target, rfs)
    store = RfsStore(rfs, **{**options, "strict_json": True})
    report = ToHdf5Report(str(target))
    try:
        with replaced(target) as temporary:  # what a killed process left there is used again
            making(temporary)
            _check(target, overwrite=overwrite)  # it may have waited for another writer
            _write(temporary, store, report)
            _check(target, overwrite=overwrite)
    except ShadowzarrError:
        raise
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{target} cannot be written to: {reason}") from error
    return report


def _write(place: Path, store: RfsStore, report: ToHdf5Report) -> None:
    try:
        _NewFile(place, DescribedFile(store), report).write()
    except ShadowzarrError:
        raise
    except PROBLEMS as error:  # what concerns one object alone is left out of the file, not raised
        raise InvalidReferencesError(
            f"these references cannot be written as an HDF5 file ({type(error).__name__}: {error})"
        ) from error


def _load_filters() -> None:
    """Filters that h5py lacks, when they are installed; importing them is what makes them known."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")


def _check(target: Path, *, overwrite: bool) -> None:
    if target.exists() and not overwrite:
        raise OutputError(f"{target} exists; give --force (overwrite=True) to replace it")
    is_ours = target.is_file() and (target.stat().st_size == 0 or h5py.is_hdf5(target))
    if target.exists() and not is_ours:
        raise OutputError(
            f"{target} is no HDF5 file, and nothing else is ever replaced; choose another place"
        )
    if not target.absolute().parent.is_dir():
        raise OutputError(f"{target} cannot be written: there is no directory {target.absolute().parent}")


def _check_no_source(target: Path, rfs: Rfs) -> None:
    """Refuse to replace a file that values are read from."""
    for url in _files_read(rfs):
        if not is_remote(url) and _is_same(target, local_path(url)):
            raise OutputError(f"{target} is the source of these references and is never written to")


def _is_same(target: Path, source: str) -> bool:
    try:
        return target.samefile(source)
    except (OSError, ValueError):  # one of them is not there, or cannot be
        return False


def _files_read(rfs: Rfs) -> set[str]:
    """Every file that references point into, also those that ``sources`` does not list."""
    listed = {ref[0] for ref in rfs["refs"].values() if not isinstance(ref, str)}
    rules = {entry["url"] for entry in rfs.get("gen", [])}
    indexed = {entry["url"] for entry in rfs.get("indexes", {}).values()}
    return {*rfs.get("sources", {}), *listed, *rules, *indexed}


class _NewFile:
    def __init__(self, place: Path, described: DescribedFile, report: ToHdf5Report) -> None:
        self._place = place
        self._described = described
        self._report = report
        self._objects: dict[str, Any] = {}
        self._writers: dict[str, DatasetWriter] = {}

    def write(self) -> None:
        try:
            output = Output(self._place, Path(self._report.path))
        except (OSError, ValueError) as error:
            raise OutputError(f"{self._place.parent} cannot be written to: {error}") from error
        with output:
            self._write(output)
            output.check()

    def _write(self, output: Output) -> None:
        self._output = output
        self._file = _create(output, self._described)
        self._references = NewReferences(self._file)
        try:
            self._nursery = Nursery(self._file, self._described.links("/"))
            self._make_groups()
            self._make_types()
            self._make_datasets()
            self._link()
            self._fill_late()
            self._write_attributes()
            self._report_not_described()
        finally:
            self._writers.clear()
            self._objects.clear()
            self._file.close()
        self._write_userblock(output)

    def _begin(self, what: str) -> None:
        """Say what is written now, unless nothing can be written any more."""
        working_on(what)
        self._output.check()

    def _paths(self, kind: str) -> list[str]:
        return [path for path in self._described.paths if self._described.kind(path) == kind]

    def _add(self, path: str, item: Any) -> None:
        self._objects[path] = item
        self._references.add(path, item)

    def _make_groups(self) -> None:
        for path in self._paths("group"):
            self._begin(path)
            if path == "/":
                self._add(path, h5g.open(self._file, b"/"))
                continue
            properties = h5p.create(h5p.GROUP_CREATE)
            set_orders(properties, self._described.creation(path))
            self._add(path, h5g.create(self._nursery.folder, self._nursery.name(), gcpl=properties))
            self._report.groups += 1

    def _make_types(self) -> None:
        for path in self._paths("datatype"):
            try:
                tid = type_from_json(self._described.type(self._described.entry(path)["type"]))
                tid.commit(self._nursery.folder, self._nursery.name())
            except PROBLEMS as error:
                self._report.leave_out(path, str(error))
                continue
            self._add(path, tid)
            self._report.datatypes += 1

    def _type(self, described: Any) -> h5t.TypeID:
        """A datatype of the new file; committed ones are those that were made."""
        return type_from_json(described, lambda path: self._objects[path_to_text(path)])

    def _make_datasets(self) -> None:
        for path in sorted(self._paths("dataset"), key=self._is_late):
            self._begin(path)
            try:
                self._make_dataset(path)
            except ShadowzarrError:
                raise
            except PROBLEMS as error:
                self._report.leave_out(path, str(error))

    def _is_late(self, path: str) -> bool:
        """Whether a dataset holds references, so that its fill value may refer to another dataset."""
        return "H5T_REFERENCE" in str(self._described.dataset_type(path))

    def _make_dataset(self, path: str) -> None:
        type_json, shape = self._described.dataset_type(path), self._described.shape(path)
        if type_json is None or shape is None:
            raise ValueError("the document does not say its datatype and shape")
        writer = DatasetWriter(
            self._nursery,
            path,
            self._described,
            self._type(type_json),
            self._references,
            self._report,
            self._output.check,
        )
        if not writer.is_late():
            writer.write_values()
        self._writers[path] = writer
        self._add(path, writer.id)
        self._report.datasets += 1

    def _link(self) -> None:
        children: dict[str, dict[str, str]] = {}
        for path in self._objects:
            parent, _, name = path.rpartition("/")
            if path != "/":
                children.setdefault(parent or "/", {})[name] = path
        for path in self._paths("group"):
            write_links(
                self._objects[path],
                path,
                self._described,
                self._objects,
                children.get(path, {}),
                self._report,
            )
        self._nursery.remove()

    def _fill_late(self) -> None:
        """Values that refer to other objects, or lie in a heap."""
        for path, writer in self._writers.items():
            if not writer.is_late():
                continue
            self._begin(path)
            try:
                writer.write_values()
            except ShadowzarrError:
                raise
            except PROBLEMS as error:
                self._report.leave_out(path, f"its values: {error}")

    def _write_attributes(self) -> None:
        for path, item in self._objects.items():
            self._begin(f"the attributes of {path}")
            write_attributes(item, path, self._described, self._type, self._references, self._report)
            comment = self._described.entry(path).get("comment")
            if comment:
                h5o.set_comment(item, text_to_name(comment))

    def _report_not_described(self) -> None:
        """What the generator could not describe is at best as the Zarr side suggests."""
        for item in self._described.section.get("notDescribed", []):
            path, what = item["path"], item["what"]
            if what == "values":
                continue  # the dataset's own remark says it
            owner, _, name = path.rpartition("@") if what == "attribute" else (path, "", "")
            is_there = owner in self._objects and (
                what != "attribute" or name in self._described.attributes(owner)
            )
            remark = self._report.change if is_there else self._report.leave_out
            remark(path, f"the {what} is not described: {item['reason']}")

    def _write_userblock(self, output: Output) -> None:
        userblock = self._described.file.get("userblock")
        if userblock is not None:
            output.seek(0)
            output.write(memoryview(json_to_bytes(userblock["bytes"])[: userblock["size"]]))


def _create(output: Output, described: DescribedFile) -> h5f.FileID:
    properties = h5p.create(h5p.FILE_CREATE)
    userblock = described.file.get("userblock")
    if userblock is not None:
        properties.set_userblock(userblock["size"])
    set_orders(properties, described.creation("/"))
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    lowest = _LOWEST_VERSION.get(described.file.get("superblock", 0), h5f.LIBVER_EARLIEST)
    access.set_libver_bounds(lowest, h5f.LIBVER_LATEST)
    access.set_fileobj_driver(h5fd.fileobj_driver, output)
    return h5f.create(b"new", h5f.ACC_TRUNC, fcpl=properties, fapl=access)
