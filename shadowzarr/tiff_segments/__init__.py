"""Segments (strips and tiles) of TIFF pages that no other Zarr codec decodes; knows no references."""
