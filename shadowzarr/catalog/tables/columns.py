"""The tables of the catalogue, and what their columns mean: one list for all that write or explain them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

TABLES_VERSION: Final = 1
"""Raised with every change of a column; a working state of another version is made anew."""

Row = dict[str, Any]
"""A value by the name of its column."""


@dataclass(frozen=True)
class Column:
    """One column: its name, its type in DuckDB, and what it holds."""

    name: str
    kind: str
    meaning: str

    @property
    def is_list(self) -> bool:
        """Whether its values are lists."""
        return self.kind.endswith("[]")


_ASSET_KEY: Final = (
    Column("dandiset", "VARCHAR", "six digits; or the name of a folder or manifest"),
    Column("version", "VARCHAR", "draft or a published version; current for a folder or manifest"),
    Column("asset_path", "VARCHAR", "path of the asset in its dandiset"),
    Column("asset_id", "VARCHAR", "identifier of the asset; two versions of a dandiset may share it"),
)

ASSETS: Final = (
    *_ASSET_KEY,
    Column("etag", "VARCHAR", "ETag of the asset's blob, without quotes"),
    Column("size", "BIGINT", "bytes of the source file"),
    Column("url", "VARCHAR", "what its references point into"),
    Column("outcome", "VARCHAR", "indexed, partial (objects are left out) or failed"),
    Column("references_path", "VARCHAR", "where its references are, relative to the output"),
    Column("references_bytes", "BIGINT", "bytes of the references"),
    Column("format_version", "INTEGER", "version of the document format"),
    Column("options_digest", "VARCHAR", "digest of the options that decide the references"),
    Column("group_count", "BIGINT", "groups"),
    Column("array_count", "BIGINT", "arrays"),
    Column("chunk_count", "BIGINT", "chunks that are stored anywhere"),
    Column("array_bytes", "BIGINT", "bytes of all arrays in memory; text counts as nothing"),
    Column("stored_bytes", "BIGINT", "bytes that references to all chunks name"),
    Column("left_out_count", "BIGINT", "objects that are left out by name"),
    Column("verification", "VARCHAR", "sample, full or none"),
    Column("is_verified", "BOOLEAN", "whether references and original were compared and found equal"),
    Column("error_stage", "VARCHAR", "where it failed: index, verify, publish or record"),
    Column("error_kind", "VARCHAR", "class of the error"),
    Column("error_message", "VARCHAR", "what was found, and what to do"),
    Column("is_error_transient", "BOOLEAN", "whether the error may pass by itself"),
    Column("requests", "BIGINT", "requests for bytes of the file that indexing took"),
    Column("bytes_read", "BIGINT", "bytes of the file that indexing read"),
    Column("seconds", "DOUBLE", "time of all stages"),
    Column("indexed_at", "VARCHAR", "when its first stage began, UTC"),
    Column("library_version", "VARCHAR", "version of shadowzarr that did it"),
    Column("nwb_version", "VARCHAR", "version of the NWB schema; nothing for other files"),
    Column("identifier", "VARCHAR", "identifier of the NWB file"),
    Column("session_id", "VARCHAR", "session_id of the NWB file"),
    Column("session_description", "VARCHAR", "session_description of the NWB file"),
    Column("session_start_time", "VARCHAR", "session_start_time of the NWB file, as it stands there"),
    Column("subject_id", "VARCHAR", "the subject's subject_id"),
    Column("species", "VARCHAR", "the subject's species, as it stands there"),
    Column("sex", "VARCHAR", "the subject's sex"),
    Column("age", "VARCHAR", "the subject's age, such as P90D"),
    Column("genotype", "VARCHAR", "the subject's genotype"),
    Column("institution", "VARCHAR", "institution of the NWB file"),
    Column("lab", "VARCHAR", "lab of the NWB file"),
    Column("experimenters", "VARCHAR[]", "experimenter of the NWB file"),
    Column("keywords", "VARCHAR[]", "keywords of the NWB file"),
)
"""One row for each record: mostly one for each asset, two where a changed asset fails for now."""

OBJECTS: Final = (
    *_ASSET_KEY,
    Column("path", "VARCHAR", "path of the object in its file, without a slash in front; empty: the root"),
    Column("kind", "VARCHAR", "group or array"),
    Column("neurodata_type", "VARCHAR", "its attribute neurodata_type, such as ElectricalSeries"),
    Column("namespace", "VARCHAR", "its attribute namespace, such as core or ndx-pose"),
    Column("parent_type", "VARCHAR", "neurodata_type of the nearest group around it that has one"),
    Column("shape", "BIGINT[]", "shape of an array"),
    Column("dtype", "VARCHAR", "data type of an array, as Zarr names it"),
    Column("chunk_shape", "BIGINT[]", "chunk shape of an array"),
    Column("codecs", "VARCHAR[]", "codecs of an array, in the order in which they encode"),
    Column("compression", "VARCHAR", "the codec among them that compresses"),
    Column("compression_level", "INTEGER", "its level; zlib is what HDF5 calls gzip"),
    Column("chunks_in", "VARCHAR", "where chunks are: inline, refs, gen, index, or several with + between"),
    Column("chunk_count", "BIGINT", "chunks that are stored"),
    Column("inline_count", "BIGINT", "those that the document holds itself"),
    Column("array_bytes", "BIGINT", "bytes in memory; nothing for text of any length"),
    Column(
        "stored_bytes",
        "BIGINT",
        "bytes that references to its chunks name; the last chunk of a block may be named whole",
    ),
    Column("unit", "VARCHAR", "its attribute unit; a group's is that of its member data"),
    Column("conversion", "DOUBLE", "its attribute conversion; a group's is that of its member data"),
    Column("rate", "DOUBLE", "Hz, of a series with starting_time; nothing for one with timestamps"),
    Column("channels", "BIGINT", "of an ElectricalSeries or SpikeEventSeries"),
    Column("samples", "BIGINT", "first extent of the member data of a series"),
    Column("seconds", "DOUBLE", "samples by rate"),
    Column("description", "VARCHAR", "its attribute description"),
)
"""One row for each group and array of every asset that has references."""

LEFT_OUT: Final = (
    *_ASSET_KEY,
    Column("path", "VARCHAR", "path of the object in its file"),
    Column("kind", "VARCHAR", "dataset, attribute, link or group"),
    Column("reason", "VARCHAR", "why it cannot be represented"),
)
"""One row for each object that references leave out."""

TABLES: Final[dict[str, tuple[Column, ...]]] = {"assets": ASSETS, "objects": OBJECTS, "left_out": LEFT_OUT}
