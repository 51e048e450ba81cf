"""Verification: the independent judge of references.

Compares references with what they describe, from what the format's own reader (h5py, tifffile, NEO, numpy)
and zarr show. It imports neither the generators nor their byte caches, so that one mistake cannot hide in
both.

What references are compared with is an original (``original``): an HDF5 file (``hdf5``), a TIFF file
(``tiff``), a recording (``neo``), or arrays in memory (``memory_original``).
"""

from .judge import verify_rfs
from .mappings import MAPPINGS
from .report import Difference, LeftOut, Mode, VerificationReport

__all__ = ["MAPPINGS", "Difference", "LeftOut", "Mode", "VerificationReport", "verify_rfs"]
