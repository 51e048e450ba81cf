"""The command ``shadowzarr``: one file per verb, and nothing that the library cannot do without it.

Importing this package, and asking for help, imports neither zarr nor h5py nor numpy.
"""

from .command import main

__all__ = ["main"]
