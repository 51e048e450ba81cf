"""An HDF5 file as an original: everything that h5py shows of it, compared with the references.

Its own reading of the convention, from h5py and zarr alone. ``hdf5_original`` is the table of contents: the
walk over names and links is in ``structure``, the comparisons are in ``attributes`` and ``datasets``.
"""
