"""Object references → paths of their targets.

A reference is the address of an object, and the inventory knows the path of every address, so that
nothing is opened to resolve one. References are read as the numbers they are, never as h5py objects,
except where they lie inside sequences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from h5py import h5f, h5r

from .inventory import Inventory, address_of
from .object_names import absolute
from .reasons import CannotRepresentError, reading

NULL = ""
"""What a null reference, or one whose object has no path, becomes."""


class ReferenceResolver:
    """Paths of referenced objects.

    Parameters
    ----------
    inventory : Inventory
        Every object of the file.
    file : h5py.h5f.FileID
        The file, for references that h5py hands out as objects.
    """

    def __init__(self, inventory: Inventory, file: h5f.FileID) -> None:
        self._inventory = inventory
        self._file = file
        self.dangling = 0
        """References met so far that lead to no object with a path."""

    def path(self, address: int) -> str:
        """Absolute path of the object at an address; `NULL` for none."""
        if address == 0:
            return NULL
        found = self._inventory.objects.get(address)
        if found is None:
            self.dangling += 1
            return NULL
        return absolute(found.path)

    def paths(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
        """Paths of many references, each distinct one resolved once (object array of str)."""
        distinct, places = np.unique(addresses, return_inverse=True)
        before = self.dangling
        names = np.empty(len(distinct), object)
        names[:] = [self.path(address) for address in distinct.tolist()]
        if self.dangling != before:
            lost = [address for address in distinct.tolist() if address and not self._knows(address)]
            self.dangling = before + int(np.isin(addresses, np.array(lost, np.uint64)).sum())
        return np.asarray(names[places.reshape(-1)]).reshape(addresses.shape)

    def path_of(self, reference: Any) -> str:
        """Path of a reference that h5py gave as an object.

        Raises
        ------
        CannotRepresentError
            For a region reference.
        """
        if isinstance(reference, h5r.RegionReference):
            raise CannotRepresentError("region references are not represented yet")
        if not reference:
            return NULL
        try:
            with reading():
                address = address_of(h5r.dereference(reference, self._file))
        except CannotRepresentError:
            self.dangling += 1
            return NULL
        return self.path(address)

    def _knows(self, address: int) -> bool:
        return address in self._inventory.objects
