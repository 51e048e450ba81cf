"""Measurements behind the numbers of ``docs/performance.md``; nothing of the library imports them."""
