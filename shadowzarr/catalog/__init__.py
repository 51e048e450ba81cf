"""Bulk indexing without an orchestrator: what to do, where it goes, and what was done.

It leaves scheduling, retries and configuration files to ``tasks`` and ``flows``.
"""
