"""to_hdf5: a reference file system → an HDF5 file with the content of the original."""

from .report import ToHdf5Report
from .write_file import to_hdf5

__all__ = ["ToHdf5Report", "to_hdf5"]
