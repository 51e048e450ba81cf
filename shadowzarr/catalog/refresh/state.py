"""What there is: the archive's listing of a dandiset, and the output's references of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ...access.dandi_api import DandiArchive
from ...errors import UsageError
from ..request import DandisetRequest
from ..resolve import DRAFT, ResolvedVersion, open_archive, resolve_assets, resolve_version
from .contents import Contents, contents_of
from .references import PublishedReferences
from .request import RefreshRequest


@dataclass
class DandisetState:
    """What the archive and the output say of one dandiset.

    Attributes
    ----------
    version : ResolvedVersion
        The one that is followed.
    contents : Contents
        What a repository should hold of it.
    published : list of str
        Names of the published versions that may become tags, oldest first.
    versions : dict of str to Contents
        What is known of them.
    """

    version: ResolvedVersion
    contents: Contents
    published: list[str] = field(default_factory=list)
    versions: dict[str, Contents] = field(default_factory=dict)


def wanted_dandisets(request: RefreshRequest) -> tuple[DandisetRequest, ...]:
    """What is followed: what the request names, or all dandisets of the output.

    Raises
    ------
    UsageError
        When the output is not there, or holds no dandiset and none is named.
    """
    store, title = request.public.store, request.public.title
    if not store.is_there():
        raise UsageError(f"the output {title} does not exist")
    if request.dandisets:
        return request.dandisets
    names = [name.rpartition("/")[2] for name in store.children("dandisets")]
    if not names:
        raise UsageError(f"the output {title} holds no dandiset; name some, or run index_dandisets first")
    return tuple(DandisetRequest(name) for name in names)


def look_at(archive: DandiArchive, request: RefreshRequest, wanted: DandisetRequest) -> DandisetState:
    """List a dandiset in the archive and in the output: a request per thousand assets, and two more.

    Raises
    ------
    ShadowzarrError
        When the archive or the output cannot be listed.
    """
    version = resolve_version(archive, wanted.dandiset, wanted.version)
    contents = list_contents(archive, request, wanted, version)
    published: list[str] = []
    if request.versions != "none" and version.is_open:
        published = [each.version for each in archive.versions(wanted.dandiset) if each.version != DRAFT]
    return DandisetState(version, contents, published[-1:] if request.versions == "latest" else published)


def list_contents(
    archive: DandiArchive, request: RefreshRequest, wanted: DandisetRequest, version: ResolvedVersion
) -> Contents:
    """List one version; errors as in `look_at`."""
    assets = list(resolve_assets(archive, version))
    references = PublishedReferences(request.public, version.dandiset)
    return contents_of(assets, wanted.rules, record_of=references.of, failure_of=references.failure)


def list_versions(
    request: RefreshRequest, wanted: DandisetRequest, state: DandisetState, names: Iterable[str]
) -> None:
    """List published versions, each once; errors as in `look_at`."""
    unknown = [name for name in names if name not in state.versions]
    if not unknown:
        return
    with open_archive(request.archive) as archive:
        for name in unknown:
            version = replace(state.version, version=name)
            state.versions[name] = list_contents(archive, request, wanted, version)
