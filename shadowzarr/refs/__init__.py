"""What a reference file system is. No I/O, no HDF5, no zarr stores."""
