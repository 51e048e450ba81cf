"""NWB files in stores of any kind, and virtual ones. Needs the extra ``nwb``."""

from .decoded_store import decoded
from .reading import read_nwb
from .writing import write_virtual_nwb

__all__ = ["decoded", "read_nwb", "write_virtual_nwb"]
