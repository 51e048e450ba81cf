"""Where objects of the new file are until they have their names.

All objects are made before any is linked, so that links can be made in the order of the original. HDF5 2.0
loses the links of an anonymous group that tracks the order of its attributes, so objects have a name in a
group of their own meanwhile, which is gone in the finished file.
"""

from __future__ import annotations

from collections.abc import Container

from h5py import h5f, h5g

from ...hdf5_types.names import name_to_text

_NAME = b".shadowzarr"


class Nursery:
    """A group for objects without names.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The new file.
    taken : container of str
        Names that its root group will have.
    """

    def __init__(self, file: h5f.FileID, taken: Container[str]) -> None:
        self._file = file
        self._place = _NAME
        while name_to_text(self._place) in taken:
            self._place += b"."
        self.folder = h5g.create(file, self._place)
        self._count = 0

    def name(self) -> bytes:
        """A name that no object has had."""
        self._count += 1
        return b"%d" % self._count

    def remove(self) -> None:
        """Take all names away, and the group; objects without another name are gone."""
        for number in range(1, self._count + 1):
            name = b"%d" % number
            if self.folder.links.exists(name):
                self.folder.unlink(name)
        self._file.unlink(self._place)
