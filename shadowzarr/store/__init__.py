"""Reading references: from a document to a zarr group."""
