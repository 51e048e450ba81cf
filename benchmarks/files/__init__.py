"""Files to measure with, written once into the scratch directory; each writer has its parameters."""
