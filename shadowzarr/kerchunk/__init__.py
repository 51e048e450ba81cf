"""References of kerchunk, in JSON or Parquet, made ours.

The other direction needs nothing: what ``write_rfs`` writes to a path ending in ``.json`` is kerchunk's form.
"""

from .from_kerchunk import kerchunk_to_rfs

__all__ = ["kerchunk_to_rfs"]
