"""Reading references: from a document to a zarr group."""

from ..h5py_lock import collect_without_waiting

collect_without_waiting()
