"""References for HDF5 files: `generate.generate_rfs` and one module per question it has to answer."""
