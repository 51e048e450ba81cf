"""Recordings that NEO's raw readers read: where their samples lie, as references."""
