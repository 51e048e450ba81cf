"""Verification: the independent judge of references.

Compares references with the file they describe, from what h5py and zarr show, with its own reading of
the convention. It imports neither the generators nor their byte caches, so that one mistake cannot hide
in both.
"""

from .judge import verify_rfs
from .mappings import MAPPINGS
from .report import Difference, LeftOut, Mode, VerificationReport

__all__ = ["MAPPINGS", "Difference", "LeftOut", "Mode", "VerificationReport", "verify_rfs"]
