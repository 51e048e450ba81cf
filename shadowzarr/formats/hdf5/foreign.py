"""Datasets whose values lie in other files: virtual datasets and external raw files.

Through a Python file object HDF5 opens the same file in place of each source, and external raw files by
local path, whatever the file says. So every file name found inside an HDF5 file is resolved here, within
the file's own folder unless that is lifted, and h5py reads such datasets by local path only.
"""

from __future__ import annotations

import os
from pathlib import Path

import h5py
from h5py import h5d, h5p

from .object_names import decode_name, encode_name
from .opening import open_local
from .reasons import CannotRepresentError, reading

_SAME_FILE = "."


def open_foreign(dataset: h5py.Dataset, path: Path | None, *, allow_external: bool) -> h5py.Dataset:
    """The dataset as it may be read, after looking at where its values lie.

    Parameters
    ----------
    dataset : h5py.Dataset
        Virtual, or stored in external raw files.
    path : pathlib.Path or None
        The HDF5 file, when h5py reads it by local path.
    allow_external : bool
        Whether files outside the file's folder may be read.

    Returns
    -------
    h5py.Dataset
        To be used in place of ``dataset``, which may be closed.

    Raises
    ------
    CannotRepresentError
        When a source must not or cannot be read.
    """
    if dataset.is_virtual:
        _check_sources(dataset, path, allow_external=allow_external)
        return dataset
    properties = dataset.id.get_create_plist()
    names = [decode_name(properties.get_external(n)[0]) for n in range(properties.get_external_count())]
    for name in names:
        source = _resolve(name, path, allow_external=allow_external)
        if not source.is_file():
            raise CannotRepresentError(f"its values are in {name}, which is not there")
    return _open_beside_file(dataset)


def _open_beside_file(dataset: h5py.Dataset) -> h5py.Dataset:
    """The dataset, with raw files looked for beside the file and not in the working directory."""
    file, name = dataset.file, encode_name(dataset.name)
    access = h5p.create(h5p.DATASET_ACCESS)
    access.set_efile_prefix(b"${ORIGIN}")
    dataset.id.close()  # HDF5 refuses another prefix while the dataset is open
    with reading():
        return h5py.Dataset(h5d.open(file.id, name, access))


def _check_sources(dataset: h5py.Dataset, path: Path | None, *, allow_external: bool) -> None:
    with reading("its sources"):
        sources = {(source.file_name, source.dset_name) for source in dataset.virtual_sources()}
    for file_name, dataset_name in sorted(sources):
        if "%b" in file_name or "%b" in dataset_name:
            raise CannotRepresentError("a virtual dataset whose sources are named by a pattern")
        if file_name == _SAME_FILE:
            _check_plain(dataset.file, dataset_name)
            continue
        source = _resolve(file_name, path, allow_external=allow_external)
        if not source.is_file():
            continue  # HDF5 shows fill values for what is not there, and so do we
        with reading(f"its source {file_name}"), open_local(source) as file:
            _check_plain(file, dataset_name)


def _resolve(name: str, path: Path | None, *, allow_external: bool) -> Path:
    if path is None:
        raise CannotRepresentError(
            f"its values are in another file ({name}), which is read beside a local file only"
        )
    folder = Path(os.path.realpath(path.parent))
    source = Path(os.path.realpath(folder / name))
    if not allow_external and not source.is_relative_to(folder):
        raise CannotRepresentError(f"its values are in {name}, outside the folder of the file")
    return source


def _check_plain(file: h5py.File, name: str) -> None:
    """Refuse a source that itself leads to another file, as a link, a virtual dataset or a raw file."""
    at = ""
    for part in filter(None, name.split("/")):
        at = f"{at}/{part}"
        if isinstance(file.get(at, getlink=True), h5py.ExternalLink):
            raise CannotRepresentError(f"its source {name} is reached through a link into another file")
    found = file.get(at or "/")
    if not isinstance(found, h5py.Dataset):
        return  # as for a file that is not there
    if found.is_virtual or found.id.get_create_plist().get_external_count():
        raise CannotRepresentError(f"its source {name} has its own values elsewhere")
