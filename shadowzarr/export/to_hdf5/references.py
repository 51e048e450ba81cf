"""References inside values: paths of the document → objects of the file that is written."""

from __future__ import annotations

from typing import Any

from h5py import h5d, h5f, h5g, h5r

from ...hdf5_types.names import text_to_path
from ...hdf5_types.references import select

ObjectId = Any


class NewReferences:
    """The objects of the new file; see `hdf5_types.references.References`.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The file that is written.
    """

    def __init__(self, file: h5f.FileID) -> None:
        self._file = file
        self._addresses: dict[str, int] = {}

    def add(self, path: str, item: ObjectId) -> None:
        """Say that an object was made."""
        low, high = h5g.get_objinfo(item).objno
        self._addresses[path] = int(low) | int(high) << 64

    def path(self, address: int) -> str | None:
        """Path of the object at an address."""
        return next((path for path, known in self._addresses.items() if known == address), None)

    def address(self, path: str) -> int | None:
        """Address of the object at a path."""
        return self._addresses.get(path)

    def target(self, reference: Any) -> Any:
        """References are written here, never read."""
        raise TypeError("a reference cannot be read from a file that is being written")

    def region(self, reference: Any) -> dict[str, Any]:
        """Regions are written here, never read."""
        raise TypeError("a region reference cannot be read from a file that is being written")

    def region_reference(self, described: dict[str, Any]) -> Any:
        """The region reference that JSON describes; null for one that leads nowhere."""
        if "id" not in described:
            return None
        path = text_to_path(described["id"])
        space = h5d.open(self._file, path).get_space()
        select(space, described)
        return h5r.create(self._file, path, h5r.DATASET_REGION, space)
