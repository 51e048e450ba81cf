"""NWB files in stores of any kind. Reading needs the extra ``nwb``."""

from .decoded_store import decoded
from .reading import read_nwb

__all__ = ["decoded", "read_nwb"]
