"""References that the reading benchmark starts from; one module for each library, not timed.

Arguments of ``prepare`` are ``path`` (the local file), ``source`` (what references name), ``dataset`` and
``target`` (what is written, without the end of its name).
"""
