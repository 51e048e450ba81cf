"""Which recordings have to be converted: their files and options, compared with what an output holds."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import orjson

from ..catalog.asset_names import safe_stem
from ..catalog.file_assets import CURRENT
from ..catalog.index_run import RunLog
from ..catalog.layout import layout_at
from ..catalog.plan import Plan, SelectionRules, make_plan
from ..catalog.redo import quarantine_by_record
from ..catalog.resolve import ResolvedVersion
from .request import (
    CONVERSION_VERSION,
    STORE_SUFFIXES,
    ConversionOptions,
    ConversionRequest,
    ConversionRules,
    Recording,
)
from .sources import recording_asset

_ALL = SelectionRules(include=("**",), is_include_own=False)


def plan_recordings(request: ConversionRequest, log: RunLog) -> None:
    """Put into the log what has to be done.

    Raises
    ------
    OutputError
        When the output cannot be listed.
    """
    log.versions = [ResolvedVersion(request.name, CURRENT, is_open=True)]
    log.plan = Plan()
    listing = request.run.public.list_version(request.name, CURRENT)
    redo = request.run.redo
    for recording in request.recordings:
        is_lost = not _has_store(request.rules, recording)
        log.plan.extend(
            make_plan(
                [recording_asset(request.name, recording)],
                _ALL,
                public=layout_at(request.run.output, conversion_options(request, recording)),
                public_listing=listing,
                redo=replace(redo, force=True) if is_lost else redo,
                quarantine=quarantine_by_record(redo),
            )
        )


def conversion_options(request: ConversionRequest, recording: Recording) -> ConversionOptions:
    """All that decides what the references of a recording look like, beside its files."""
    rules = request.rules
    content = {
        "interfaces": {key: each.as_json() for key, each in recording.interfaces.items()},
        "metadata": metadata_digests(recording),
        "strict": rules.strict,
        "url_for": dict(rules.hosts),
        "critical": rules.critical,
        "store": rules.store,
        "version": CONVERSION_VERSION,
    }
    form = request.run.options.form
    return ConversionOptions(form=form, content=orjson.dumps(content, option=orjson.OPT_SORT_KEYS))


def metadata_digests(recording: Recording) -> dict[str, str]:
    """What the metadata files of a recording hold."""
    return {str(path): _digest(path) for path in recording.metadata}


def store_path(rules: ConversionRules, recording: Recording) -> Path | None:
    """Where the ordinary NWB file of a recording goes, a long name cut; none when there is to be none."""
    if rules.store is None or rules.stores is None:
        return None
    path = rules.stores / recording.path
    return path.with_name(safe_stem(path.name) + STORE_SUFFIXES[rules.store])


def _has_store(rules: ConversionRules, recording: Recording) -> bool:
    """Whether the ordinary file is there, if there is to be one."""
    path = store_path(rules, recording)
    return path is None or path.exists()


def _digest(path: Path) -> str:
    """Digest of a file's content; of one that cannot be read, which shows when it is used, nothing."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    except OSError:
        return ""
