"""Getting bytes: local files, HTTP, S3 and the DANDI archive behind one interface.

Nothing here knows zarr stores, HDF5 or chunk keys. Import from the modules: `locations` (names of
files), `sources` (their identity), `range_reader` (their bytes), `merging`, `remfile`, `dandi_api`.
"""
