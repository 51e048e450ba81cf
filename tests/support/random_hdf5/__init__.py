"""Random HDF5 files, described by hypothesis and written by h5py, and what reads them back independently."""
