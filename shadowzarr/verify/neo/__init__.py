"""A recording as an original: what NEO's raw readers read of it, compared with the references."""
