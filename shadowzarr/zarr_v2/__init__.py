"""Zarr v2 in references: keys, metadata and chunks, and what they are in Zarr v3.

Shared by the bridges to formats that hold Zarr v2 keys. No files and no requests; what has no form in
Zarr v3 is refused by name (`NoV3FormError`), and the bridges leave it out.
"""

from .arrays import V3Array, to_v3
from .nodes import V2Node, nodes_of
from .reasons import NoV3FormError

__all__ = ["NoV3FormError", "V2Node", "V3Array", "nodes_of", "to_v3"]
