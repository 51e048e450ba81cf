"""VirtualiZarr's parsers by name: a file of another format → a manifest store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from virtualizarr import parsers
from virtualizarr.manifests import ManifestStore

from ..access.locations import canonical, is_remote, secret_in, without_query
from ..errors import MissingDependencyError, ShadowzarrError, SourceError, SourceNotFoundError, UsageError
from .locations import manifest_path
from .registry import registry_for

PARSERS: Mapping[str, str] = {
    "dmrpp": "DMRPPParser",
    "envi": "ENVIParser",
    "fits": "FITSParser",
    "hdf4": "HDF4Parser",
    "hdf5": "HDFParser",
    "kerchunk": "KerchunkJSONParser",
    "kerchunk-parquet": "KerchunkParquetParser",
    "netcdf3": "NetCDF3Parser",
    "zarr": "ZarrParser",
    "zarr-zip": "ZippedZarrParser",
}
"""VirtualiZarr's parsers (2.8) by what they read; Icechunk's repositories are read by ``icechunk_to_rfs``."""


def parse_source(source: str | os.PathLike[str], parser: str, *, group: str | None = None) -> ManifestStore:
    """Parse a file by one of VirtualiZarr's parsers.

    Parameters
    ----------
    source : str or path
        A local path, an http(s) or an ``s3://`` URL.
    parser : str
        One of `PARSERS`.
    group : str, optional
        The group, or for FITS the extension, that is wanted; everything when left out.

    Returns
    -------
    ManifestStore
        What VirtualiZarr knows of the file.

    Raises
    ------
    UsageError
        When there is no such parser, it knows no groups, or the location is one that it cannot be given.
    MissingDependencyError
        When the parser needs what is not installed; the message is the parser's own.
    SourceNotFoundError
        When nothing is at a local path.
    SourceError
        When the parser does not take it, with the parser's reason.
    """
    if parser not in PARSERS:
        raise UsageError(f"there is no parser {parser!r}; VirtualiZarr has {', '.join(PARSERS)}")
    if group is not None and parser == "envi":
        raise UsageError("the parser envi knows no groups")
    location = canonical(source)
    secret = secret_in(location)
    if secret is not None:
        raise UsageError(f"{without_query(location)} comes with {secret}, which must not be written down")
    if not is_remote(location) and not Path(location).exists():
        raise SourceNotFoundError(f"{location}: there is no such file")
    name = PARSERS[parser]
    url = manifest_path(location, None)
    options: dict[str, Any] = {} if group is None else {"group": group}
    try:
        store: ManifestStore = getattr(parsers, name)(**options)(url=url, registry=registry_for([url]))
    except ImportError as error:
        raise MissingDependencyError(f"VirtualiZarr's {name} needs what is not installed: {error}") from error
    except ShadowzarrError:
        raise
    except Exception as error:  # each parser raises what its format's library does
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise SourceError(
            f"{without_query(location)} is not taken by VirtualiZarr's {name}: {reason}"
        ) from error
    return store
