"""What hdmf-zarr writes of an NWB file in memory: its nodes, and where placeholders stand. Needs hdmf-zarr.

For a placeholder hdmf-zarr (0.14, ``ZarrIO.write_dataset``) writes the metadata of an array and no chunk, as
for any iterator that is empty. Which arrays those are is taken from the builders that it writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hdmf.build import DatasetBuilder, GroupBuilder
from hdmf.data_utils import DataIO
from hdmf_zarr import NWBZarrIO
from zarr.core.buffer import Buffer
from zarr.storage import MemoryStore

from ..errors import ShadowzarrError, UsageError
from ..refs.chunk_key import METADATA_NAME, parse_chunk_key
from ..virtual import VirtualArray
from ..virtual.placeholder import Placeholder


@dataclass(frozen=True)
class Structure:
    """An NWB file as hdmf-zarr writes it.

    Attributes
    ----------
    nodes : dict of str to dict
        Metadata documents by the paths of their nodes, those of groups before what is in them.
    chunks : dict of str to bytes
        Encoded chunks, by their keys, of all arrays that hold real data.
    virtual : dict of str to VirtualArray
        What placeholders stand for, by the paths of their arrays.
    """

    nodes: dict[str, dict[str, Any]]
    chunks: dict[str, bytes]
    virtual: dict[str, VirtualArray]


class _NamedStore(MemoryStore):
    """A store in memory that is called as the file which will be written, as pynwb remembers it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __str__(self) -> str:
        return self._name


def write_structure(nwbfile: Any, name: str) -> Structure:
    """Let hdmf-zarr write an NWB file into memory.

    Parameters
    ----------
    nwbfile : pynwb.NWBFile
    name : str
        What pynwb will call the file that it was written to.

    Raises
    ------
    UsageError
        When hdmf-zarr cannot write it, as one that was written to another place, or writes data under
        another name.
    """
    content: dict[str, Buffer] = {}
    store = _NamedStore(name)
    store._store_dict = content
    try:
        with NWBZarrIO(store, mode="w") as io:
            io.write(nwbfile, consolidate_metadata=False)
            virtual = dict(_placeholders(io.manager.get_builder(nwbfile), ""))
    except ShadowzarrError:
        raise
    except Exception as error:  # whatever hdmf raises about what it is given
        raise UsageError(f"hdmf-zarr cannot write {nwbfile.name!r} to {name}: {_reason(error)}") from error
    nodes: dict[str, dict[str, Any]] = {}
    chunks: dict[str, bytes] = {}
    for key in sorted(content):
        data = content[key].to_bytes()
        folder, _, last = key.rpartition("/")
        if last == METADATA_NAME:
            nodes[folder] = json.loads(data)
        elif parse_chunk_key(key) is not None:
            chunks[key] = data
        else:
            raise UsageError(f"hdmf-zarr wrote {key!r} for {nwbfile.name!r}, which is no chunk of an array")
    lost = next((path for path in virtual if path not in nodes), None)
    if lost is not None:  # zarr takes a backslash in a name for a slash
        raise UsageError(
            f"hdmf-zarr wrote {lost!r} of {nwbfile.name!r} under another name; give it a plain one"
        )
    return Structure(dict(sorted(nodes.items())), chunks, virtual)


def _placeholders(builder: GroupBuilder, path: str) -> Iterator[tuple[str, VirtualArray]]:
    """Virtual arrays that stand in a group, or in one inside it, by paths."""
    for name, dataset in builder.datasets.items():
        found = placeholder_in(dataset)
        if found is not None:
            yield path + name, found.array
    for name, group in builder.groups.items():
        yield from _placeholders(group, f"{path}{name}/")


def placeholder_in(dataset: DatasetBuilder) -> Placeholder | None:
    """The placeholder that a dataset is written from; None when it is real data."""
    data = dataset.data
    while isinstance(data, DataIO):
        data = data.data
    return data if isinstance(data, Placeholder) else None


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
