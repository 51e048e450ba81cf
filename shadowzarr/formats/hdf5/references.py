"""References → paths of their targets, and the selections of region references.

A reference is the address of an object, and the inventory knows the path of every address, so that
nothing is opened to resolve one. References are read as the numbers they are, never as h5py objects,
except where they lie inside sequences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from h5py import h5f, h5r, h5s

from ...hdf5_types.references import selection_to_json
from .inventory import Inventory, address_of
from .object_names import absolute
from .reasons import CannotRepresentError, reading

MOST_SELECTED = 65536
"""Points or blocks of a region reference; the file may say billions in a few bytes."""

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
        """Path of the target of a reference that h5py gave as an object; of a region, its dataset's."""
        if not reference:
            return NULL
        try:
            with reading():
                address = address_of(h5r.dereference(reference, self._file))
        except CannotRepresentError:
            self.dangling += 1
            return NULL
        return self.path(address)

    def name_of(self, reference: Any) -> str:
        """The last part of the path of a reference's target; `NULL` for none."""
        return self.path_of(reference).rpartition("/")[2]

    def region_of(self, reference: Any) -> dict[str, Any] | None:
        """The dataset and the selection of a region reference (HDF REST API, "Region Reference Types").

        Parameters
        ----------
        reference : h5py.RegionReference
            Or what h5py gives for one that was never written.

        Returns
        -------
        dict or None
            ``id``, the path of the dataset, ``select_type`` and ``selection``; None for a null reference,
            and for one whose dataset has no path.

        Raises
        ------
        CannotRepresentError
            When the selection cannot be read, or lists too much.
        """
        if not isinstance(reference, h5r.RegionReference):
            return None
        path = self.path_of(reference)
        if not path:
            return None
        with reading("a region reference"):
            space = h5r.get_region(reference, self._file)
            kind = space.get_select_type()
            count = 0
            if kind == h5s.SEL_POINTS:
                count = space.get_select_elem_npoints()
            elif kind == h5s.SEL_HYPERSLABS:
                count = space.get_select_hyper_nblocks()
            if count > MOST_SELECTED:
                raise CannotRepresentError(f"a region reference of {count:,} points or blocks")
            return {"id": path, **selection_to_json(space)}

    def _knows(self, address: int) -> bool:
        return address in self._inventory.objects
