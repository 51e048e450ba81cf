"""Generators: one folder per source format. None imports another, and none imports the store."""
