"""The ``hdf5`` section of a document: what Zarr cannot say exactly about an HDF5 file, as JSON."""

from .describe import Description

__all__ = ["Description"]
