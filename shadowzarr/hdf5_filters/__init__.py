"""Chunks behind HDF5 filters, decoded by HDF5 itself: for the filters that Zarr has no codec for."""
