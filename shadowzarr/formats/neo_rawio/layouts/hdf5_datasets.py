"""Datasets of HDF5 files that NEO reads, referenced as `generate_rfs` references them."""

from __future__ import annotations

import os
from typing import Any, cast

from ....errors import ShadowzarrError
from ....refs.document import Rfs
from ....virtual import VirtualArray
from ...cannot_represent import CannotRepresentError
from ...hdf5.generate import generate_rfs
from ..recording import Recording

_NO_SLABS = 2**62


def dataset_array(recording: Recording, path: str | os.PathLike[str], name: str) -> VirtualArray:
    """A dataset, as it is stored.

    Raises
    ------
    CannotRepresentError
        When it cannot be referenced, as behind a filter that no codec undoes.
    """
    rfs = dataset_references(recording, path, name)
    return VirtualArray.from_rfs(rfs, name.strip("/")).with_attributes({})


def dataset_references(
    recording: Recording, path: str | os.PathLike[str], name: str, *, is_listed: bool = False
) -> Rfs:
    """References of a file, of which one dataset is wanted.

    Parameters
    ----------
    is_listed : bool, optional
        Whether all chunks of all datasets are to be in ``refs``, without rules and indexes.
    """
    local = os.path.abspath(path)  # noqa: PTH100
    url = recording.files.place(path, 0)
    options: dict[str, Any] = {"on_unsupported": "skip", "hdf5_section": False}
    if is_listed:
        options |= {"chunk_index_threshold": None, "contiguous_chunk_bytes": _NO_SLABS}
    try:
        rfs = generate_rfs(local, **options)
    except ShadowzarrError as error:
        raise CannotRepresentError(str(error)) from error
    plain = name.strip("/")
    for entry in rfs.get("skipped", []):
        if entry["kind"] != "attribute" and _is_at_or_above(entry["path"].strip("/"), plain):
            raise CannotRepresentError(f"/{plain}: {entry['reason']}")
    if f"{plain}/zarr.json" not in rfs["refs"]:
        raise CannotRepresentError(f"the file has no dataset /{plain}")
    return _relocated(rfs, local, url)


def _is_at_or_above(path: str, name: str) -> bool:
    return name == path or name.startswith(f"{path}/")


def _relocated(rfs: Rfs, local: str, url: str) -> Rfs:
    """The same references to where the file is hosted."""
    if url == local:
        return rfs

    def moved(text: str) -> str:
        return url if text == local else text

    def each(entries: Any) -> Any:
        return {path: {**entry, "url": moved(entry["url"])} for path, entry in entries.items()}

    refs = {
        key: [moved(value[0]), *value[1:]] if isinstance(value, list) else value
        for key, value in rfs["refs"].items()
    }
    changed: dict[str, Any] = {**rfs, "refs": refs}
    if "templates" in rfs:
        changed["templates"] = {name: moved(text) for name, text in rfs["templates"].items()}
    if "indexes" in rfs:
        changed["indexes"] = each(rfs["indexes"])
    if "gen" in rfs:
        changed["gen"] = [{**entry, "url": moved(entry["url"])} for entry in rfs["gen"]]
    return cast("Rfs", changed)
