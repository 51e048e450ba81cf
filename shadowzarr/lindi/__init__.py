"""LINDI's reference files ↔ ours.

`lindi_to_rfs` gives what ``generate_rfs`` gives for the same HDF5 file, as far as LINDI says it;
`rfs_to_lindi` gives what LINDI can say. One module for each kind of object; how LINDI writes them is
described in its "Special Zarr Annotations" and was read from what its version 0.4.6 writes.
"""

from .from_lindi import lindi_to_rfs
from .to_lindi import rfs_to_lindi

__all__ = ["lindi_to_rfs", "rfs_to_lindi"]
