"""References of kerchunk, in JSON or Parquet, made ours, and ours written for its readers."""

from .from_kerchunk import kerchunk_to_rfs
from .to_kerchunk import write_kerchunk

__all__ = ["kerchunk_to_rfs", "write_kerchunk"]
