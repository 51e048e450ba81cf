"""Who takes part: shadowzarr, what others use, and the limit that no client can beat."""
