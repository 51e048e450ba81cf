"""RfsBuilder: groups, arrays and chunk locations → a reference file system.

Independent of the source format and without I/O: a generator says what there is, and the builder
checks it and writes it as the document wants it (templates, inline values, attribute conventions,
version).
"""

from ..refs.selection import columns_selection
from .document import COMPRESS_INLINE_FROM
from .rfs_builder import RfsBuilder

__all__ = ["COMPRESS_INLINE_FROM", "RfsBuilder", "columns_selection"]
