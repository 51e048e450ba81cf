"""HDF5 datatypes, dataspaces, creation properties and values ↔ JSON, in both directions.

The vocabulary is that of the HDF REST API ("Types"), with the names of hdf5-json for the classes that it
lacks and names of ours for the rest (`OWN_NAMES`). Nothing here knows documents, stores or files' trees.
"""

from .type_names import OWN_NAMES, PUBLISHED_NAMES

__all__ = ["OWN_NAMES", "PUBLISHED_NAMES"]
