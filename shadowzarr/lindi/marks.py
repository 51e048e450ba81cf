"""The attributes by which LINDI says what Zarr v2 lacks ("Special Zarr Annotations in LINDI")."""

from __future__ import annotations

SCALAR = "_SCALAR"
SOFT_LINK = "_SOFT_LINK"
REFERENCE = "_REFERENCE"
COMPOUND = "_COMPOUND_DTYPE"
EXTERNAL = "_EXTERNAL_ARRAY_LINK"

REFERENCE_TYPE = "<REFERENCE>"
"""The data type of a compound's field that is a reference; as a page of HTML the text is lost."""

OWN = frozenset({SCALAR, SOFT_LINK, REFERENCE, COMPOUND, EXTERNAL})
"""Names that are no attributes of the HDF5 object."""
