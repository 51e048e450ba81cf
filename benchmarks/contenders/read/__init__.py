"""Reading through references; one module for each library, with ``prepare(arguments)``.

Arguments are ``place`` and ``warm_up`` (each with ``references``, the path or URL without the end of its
name, ``source`` and ``dataset``), ``selections``, and what `reading` lists of contenders' own.
"""
