"""An archive of the demonstration's files and an output of their references, made in this process."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.layout import OutputLayout, RecordKey
from shadowzarr.catalog.listing import Lister
from shadowzarr.catalog.records import (
    IndexRecord,
    RecordCounts,
    StageTime,
    VerificationSummary,
    write_record,
)
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.catalog.tables.update import update_catalog
from shadowzarr.refs.chunk_key import METADATA_NAME


def listed(api_url: str, *dandisets: str) -> list[CatalogAsset]:
    """The assets of drafts in an archive."""
    request = IndexRequest(ArchiveAddress(api_url), tuple(map(DandisetRequest, dandisets)), Path("unused"))
    with Lister(request) as lister:
        versions = zip(request.wanted, lister.resolve(), strict=True)
        return [asset for wanted, version in versions for asset in lister.assets(wanted, version)]


def index_by_hand(layout: OutputLayout, assets: Iterable[CatalogAsset]) -> list[IndexRecord]:
    """Write references and records of assets, and the catalogue of them."""
    records = [_index(layout, asset) for asset in assets]
    with layout.store.held():
        update_catalog(layout)
    return records


def _index(layout: OutputLayout, asset: CatalogAsset) -> IndexRecord:
    rfs = generate_rfs(asset.download_url)
    references = Path(layout.references_path(asset))
    write_rfs(rfs, references)
    key = RecordKey(asset.asset_id, asset.etag, layout.options.digest, 1)
    nodes = sum(name.endswith(METADATA_NAME) for name in rfs["refs"])
    record = IndexRecord(
        asset_id=asset.asset_id,
        dandiset=asset.dandiset,
        version=asset.version,
        path=asset.path,
        etag=asset.etag,
        size=asset.size,
        url=asset.download_url,
        options={},
        options_digest=key.options_digest,
        format_version=1,
        outcome="indexed",
    )
    record = replace(
        record,
        references=layout.relative(references),
        references_bytes=sum(file.stat().st_size for file in references.rglob("*") if file.is_file()),
        counts=RecordCounts(arrays=nodes, chunks=len(rfs["refs"]) - nodes),
        verification=VerificationSummary("full", equal=True, objects=nodes),
        stages=[StageTime("index", "2026-03-02T09:30:00.000Z", 1.0)],
    )
    write_record(record, Path(layout.record_path(asset, key, "indexed")), scratch=layout.staging)
    return record
