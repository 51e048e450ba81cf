"""Questions that people ask of a catalogue, ready to be asked, and to be changed for one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...errors import UsageError


@dataclass(frozen=True)
class Question:
    """A question in words and in SQL."""

    name: str
    text: str
    sql: str


QUESTIONS: Final = (
    Question(
        "types",
        "Which neurodata types are there, and in how many assets?",
        """
SELECT neurodata_type, namespace, count(*) AS objects, count(DISTINCT (dandiset, asset_path)) AS assets
FROM objects WHERE neurodata_type IS NOT NULL
GROUP BY ALL ORDER BY assets DESC, neurodata_type
""",
    ),
    Question(
        "pose",
        "Which assets hold PoseEstimation?",
        """
SELECT dandiset, version, asset_path, path FROM objects
WHERE neurodata_type = 'PoseEstimation' ORDER BY ALL
""",
    ),
    Question(
        "high-density",
        "Which recordings have more than 300 channels at 30 kHz or more?",
        """
SELECT dandiset, version, asset_path, path, channels, rate, seconds FROM objects
WHERE neurodata_type = 'ElectricalSeries' AND channels > 300 AND rate >= 29999
ORDER BY channels DESC, asset_path, path
""",
    ),
    Question(
        "recordings",
        "Which recordings are there: channels, rate, length, and how they are stored?",
        """
SELECT series.dandiset, series.asset_path, series.path, series.channels, series.rate, series.seconds,
       data.dtype, data.chunk_shape, data.compression, data.stored_bytes
FROM objects series JOIN objects data
  ON (data.dandiset, data.version, data.asset_id) = (series.dandiset, series.version, series.asset_id)
  AND data.path = series.path || '/data'
WHERE series.neurodata_type = 'ElectricalSeries' ORDER BY series.dandiset, series.asset_path, series.path
""",
    ),
    Question(
        "gzip-9",
        "Where is gzip level 9 on series, which are mostly read from one time to another?",
        """
SELECT dandiset, version, asset_path, path, parent_type, shape, chunk_shape, stored_bytes,
       round(array_bytes / stored_bytes, 2) AS ratio
FROM objects WHERE compression = 'zlib' AND compression_level = 9 AND parse_filename(path) = 'data'
ORDER BY stored_bytes DESC
""",
    ),
    Question(
        "compression",
        "Which compressions are in use, on how many bytes, and what do they gain?",
        """
SELECT coalesce(compression, 'none') AS compression, compression_level, count(*) AS arrays,
       sum(stored_bytes) AS stored_bytes, round(sum(array_bytes) / sum(stored_bytes), 2) AS ratio
FROM objects WHERE kind = 'array' AND stored_bytes > 0 AND array_bytes IS NOT NULL
GROUP BY ALL ORDER BY stored_bytes DESC
""",
    ),
    Question(
        "small-chunks",
        "Which large arrays lie in so small chunks that reading them takes many requests?",
        """
SELECT dandiset, version, asset_path, path, chunk_count, chunk_shape,
       stored_bytes // chunk_count AS bytes_of_a_chunk, stored_bytes
FROM objects WHERE chunk_count >= 1000 AND stored_bytes // chunk_count < 65536 ORDER BY chunk_count DESC
""",
    ),
    Question(
        "large-chunks",
        "Which arrays have chunks so large that a small piece costs much?",
        """
SELECT dandiset, version, asset_path, path, chunk_shape, stored_bytes // chunk_count AS bytes_of_a_chunk
FROM objects WHERE chunk_count > 0 AND stored_bytes // chunk_count > 64 * 1024 * 1024
ORDER BY bytes_of_a_chunk DESC
""",
    ),
    Question(
        "largest",
        "Which hundred arrays are the largest?",
        """
SELECT dandiset, version, asset_path, path, dtype, shape, stored_bytes FROM objects
WHERE kind = 'array' ORDER BY stored_bytes DESC NULLS LAST, asset_path, path LIMIT 100
""",
    ),
    Question(
        "species",
        "Of which species are there how many subjects and assets?",
        """
SELECT species, count(DISTINCT (dandiset, subject_id)) AS subjects, count(*) AS assets,
       sum(size) AS bytes
FROM assets WHERE nwb_version IS NOT NULL GROUP BY species ORDER BY assets DESC, species
""",
    ),
    Question(
        "failures",
        "Which assets failed, and why?",
        """
SELECT error_kind, error_stage, dandiset, version, asset_path, error_message FROM assets
WHERE outcome = 'failed' ORDER BY ALL
""",
    ),
    Question(
        "left-out",
        "What is left out, and for which reasons?",
        """
SELECT kind, reason, count(*) AS objects, count(DISTINCT (dandiset, asset_path)) AS assets,
       min(asset_path || ': ' || path) AS example
FROM left_out GROUP BY ALL ORDER BY objects DESC, reason
""",
    ),
    Question(
        "same-blob",
        "Which blobs are in several assets or versions?",
        """
SELECT etag, count(*) AS assets, any_value(size) AS size, list(dandiset || '/' || asset_path) AS where_it_is
FROM assets WHERE outcome <> 'failed' GROUP BY etag HAVING count(*) > 1 ORDER BY assets DESC, etag
""",
    ),
    Question(
        "cost",
        "What did indexing cost, by dandiset?",
        """
SELECT dandiset, version, count(*) AS assets, sum(size) AS bytes, sum(bytes_read) AS bytes_read,
       sum(requests) AS requests, round(sum(seconds), 1) AS seconds, sum(references_bytes) AS references_bytes
FROM assets WHERE outcome <> 'failed' GROUP BY ALL ORDER BY dandiset, version
""",
    ),
)


def question(name: str) -> Question:
    """Find a question by its name.

    Raises
    ------
    UsageError
        When there is none of that name.
    """
    found = next((each for each in QUESTIONS if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in QUESTIONS)
        raise UsageError(f"there is no question {name!r}; expected one of {names}")
    return found
