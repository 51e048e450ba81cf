"""Making references of a file; one module for each library, with ``prepare(arguments)``.

Arguments are ``source`` (URL or path), ``warm_up`` (a small file of the same place), ``dataset``, and
``output``, a place to write to, when ``is_written``.
"""
