"""Reference file systems → files of other kinds, with their values."""
