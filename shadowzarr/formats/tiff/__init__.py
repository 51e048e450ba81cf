"""TIFF files: series and pyramid levels, as tifffile finds them, with their strips and tiles as chunks."""
