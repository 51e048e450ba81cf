"""References inside values ↔ paths of the file that is described."""

from __future__ import annotations

from typing import Any

from h5py import h5d, h5f, h5r

from ....hdf5_types.names import path_to_text, text_to_path
from ....hdf5_types.references import DANGLING, select, selection_to_json
from ..inventory import address_of
from ..reasons import READ_ERRORS
from .tree import Tree


class FileReferences:
    """The objects of the open file; see `hdf5_types.references.References`.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The file.
    tree : Tree
        Its objects.
    """

    def __init__(self, file: h5f.FileID, tree: Tree) -> None:
        self._file = file
        self._texts = {address: path_to_text(path) for address, path in tree.paths.items()}
        self._addresses = {text: address for address, text in self._texts.items()}

    def path(self, address: int) -> str | None:
        """Path of the object at an address; None when none leads there."""
        return self._texts.get(address)

    def address(self, path: str) -> int | None:
        """Address of the object at a path; None when nothing is there."""
        return self._addresses.get(path)

    def target(self, reference: Any) -> Any:
        """An object reference as JSON."""
        try:
            path = self.path(address_of(h5r.dereference(reference, self._file)))
        except READ_ERRORS:
            path = None
        return dict(DANGLING) if path is None else path

    def region(self, reference: Any) -> dict[str, Any]:
        """A region reference as JSON."""
        target = self.target(reference)
        if target == DANGLING:
            return dict(DANGLING)
        return {"id": target, **selection_to_json(h5r.get_region(reference, self._file))}

    def region_reference(self, described: dict[str, Any]) -> Any:
        """The region reference that JSON describes."""
        path = text_to_path(described["id"])
        space = h5d.open(self._file, path).get_space()
        select(space, described)
        return h5r.create(self._file, path, h5r.DATASET_REGION, space)
