"""A TIFF file as an original: the series and levels that tifffile shows, compared with the references."""
