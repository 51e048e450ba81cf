"""Reading a remote file's metadata graph ahead of HDF5, level by level."""

from .rounds import Bytes, Limits, Tally
from .run import ReadAhead, read_ahead

__all__ = ["Bytes", "Limits", "ReadAhead", "Tally", "read_ahead"]
