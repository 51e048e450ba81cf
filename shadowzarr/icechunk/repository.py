"""Opening or making a repository with the virtual chunk containers that some files need."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import icechunk

from ..access import s3_locations
from ..access.locations import canonical
from ..errors import OutputError, UsageError
from .containers import Container, container_of, prefix_for


def open_repository(
    place: str | os.PathLike[str],
    urls: Iterable[str] = (),
    *,
    create: bool = True,
    endpoint: str | None = None,
    region: str | None = None,
) -> icechunk.Repository:
    """Open a repository, or make it, with a container for each place that some files are in.

    Containers that are missing are added to the repository's configuration, and those of the files
    authorised for this process: local files and http(s) as they are, ``s3://`` by the ``AWS_`` variables of
    the environment, or unsigned where there are none.

    Parameters
    ----------
    place : str or path
        A local folder, or ``s3://<bucket>/<prefix>``.
    urls : iterable of str, optional
        Files that virtual chunks are in, as `IcechunkReport.files` gives them.
    create : bool, optional
        Whether to make a repository where there is none.
    endpoint, region : str, optional
        Root of the service that an ``s3://`` place is at, and region of its bucket; by default those of the
        ``AWS_`` variables. Files of virtual chunks go by the variables always.

    Returns
    -------
    icechunk.Repository
        Nothing is written to it yet but what makes it one.

    Raises
    ------
    UsageError
        When the place is neither, or a file needs a container that cannot be made here.
    OutputError
        When there is no repository and none can be made.
    """
    location = canonical(place)
    if Path(location).is_file():
        raise OutputError(f"{location} is a file; an Icechunk repository is a folder")
    storage = _storage(location, endpoint, region)
    needed = {container.prefix: container for container in map(container_of, urls)}
    try:
        if icechunk.Repository.exists(storage):
            return _opened(storage, needed)
        if not create:
            raise OutputError(f"there is no Icechunk repository at {location}")
        _check_place(location)
        config = icechunk.RepositoryConfig.default()
        return icechunk.Repository.create(
            storage,
            config=_with(config, needed.values()),
            authorize_virtual_chunk_access={prefix: each.credential for prefix, each in needed.items()},
        )
    except icechunk.IcechunkError as error:
        reason = str(error).partition("\n")[0]
        raise OutputError(f"the Icechunk repository at {location} cannot be opened: {reason}") from error


def repository_exists(
    place: str | os.PathLike[str], *, endpoint: str | None = None, region: str | None = None
) -> bool:
    """Tell whether there is a repository at a place; arguments as for `open_repository`.

    Raises
    ------
    UsageError
        When the place is neither a folder nor ``s3://``.
    OutputError
        When it cannot be asked.
    """
    location = canonical(place)
    try:
        return icechunk.Repository.exists(_storage(location, endpoint, region))
    except icechunk.IcechunkError as error:
        reason = str(error).partition("\n")[0]
        raise OutputError(f"cannot look for an Icechunk repository at {location}: {reason}") from error


def _opened(storage: icechunk.Storage, needed: dict[str, Container]) -> icechunk.Repository:
    config = icechunk.Repository.fetch_config(storage) or icechunk.RepositoryConfig.default()
    present = list(config.virtual_chunk_containers or {})
    by_present = {prefix: prefix_for(prefix, present) for prefix in needed}
    missing = [needed[prefix] for prefix, found in by_present.items() if found is None]
    authorised = {found or prefix: needed[prefix].credential for prefix, found in by_present.items()}
    repo = icechunk.Repository.open(
        storage, config=_with(config, missing), authorize_virtual_chunk_access=authorised
    )
    if missing:
        repo.save_config()
    return repo


def _with(config: icechunk.RepositoryConfig, containers: Iterable[Container]) -> icechunk.RepositoryConfig:
    for each in containers:
        config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(each.prefix, each.store))
    return config


def _storage(location: str, endpoint: str | None, region: str | None) -> icechunk.Storage:
    if location.startswith("s3://"):
        bucket, prefix = s3_locations.split(location)
        endpoint = endpoint or s3_locations.endpoint()
        is_signed = s3_locations.is_signed(location)
        return icechunk.s3_storage(
            bucket=bucket,
            prefix=prefix.strip("/"),
            region=region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
            endpoint_url=endpoint,
            allow_http=endpoint is not None and endpoint.startswith("http:"),
            force_path_style=endpoint is not None,
            from_env=True if is_signed else None,
            anonymous=None if is_signed else True,
        )
    if "://" in location:
        raise UsageError(
            f"{location} is no place for an Icechunk repository here; expected a folder or s3://"
        )
    return icechunk.local_filesystem_storage(location)


def _check_place(location: str) -> None:
    """Refuse a local place that holds something else."""
    if location.startswith("s3://"):
        return
    path = Path(location)
    if path.is_dir() and any(path.iterdir()):
        raise OutputError(f"{path} holds other files and no Icechunk repository; name another folder")
    if not path.parent.is_dir():
        raise OutputError(f"{path} cannot be made: there is no folder {path.parent}")
