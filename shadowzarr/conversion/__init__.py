"""Recordings that NeuroConv understands → virtual NWB files, in bulk, without an orchestrator.

NeuroConv assembles each NWB file in memory, `shadowzarr.neuroconv_bridge` swaps the data for references,
`shadowzarr.nwb` writes them. This package adds what a run of many needs: a plan, child processes,
validation, verification against NeuroConv's own readers, publication, records. Output and records are the
catalogue's, so that its report, its tables and its lock serve here too; a recording is an asset of a
collection.
"""
