"""References for a file of any format that is known: which generator makes them, and what it may be told.

Which format a file has is the subject of ``recognition``; each generator is in the folder of its format and
is imported when a file needs it, since some need optional libraries.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

from ..access.archives import asset_address
from ..access.locations import canonical, is_remote, local_path, without_query
from ..access.sources import Source, check_local_copy, describe
from ..access.traffic import counted
from ..access.watched import working_on
from ..errors import NotHDF5Error, UnknownFormatError, UsageError
from ..recognition import FORMATS, TITLES, Format, recognize
from ..refs.document import Rfs


@dataclass(frozen=True, slots=True)
class _Generator:
    """How references for files of one format are made.

    Attributes
    ----------
    options : frozenset of str
        What it may be told, beside where the file is and who hears of its progress.
    run : callable
        Takes the source, a local copy or None, and the options.
    """

    options: frozenset[str]
    run: Callable[..., Rfs]


def generate_references(
    source: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002 - the name of the command's option
    likely: Format | None = None,
    local_file: str | os.PathLike[str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    progress: Callable[[Any], None] | None = None,
    **options: Any,
) -> Rfs:
    """Make references for a file of any format that is known.

    Parameters
    ----------
    source : str or path-like
        A local path, an http(s) or s3 URL, or a DANDI URL. References name it. A recording may be a folder.
    format : {"hdf5", "tiff", "neo"}, optional
        Its format; by default what its content says.
    likely : {"hdf5"}, optional
        What is tried before the content is looked at, which saves a request when it is right.
    local_file : str or path-like, optional
        A local copy of ``source`` to read instead; refused when it is not the same file.
    defaults : mapping, optional
        Options for whichever generator takes them.
    progress : callable, optional
        Called with the events of the format's generator.
    **options
        Options that the format's generator must take; see `options_of`.

    Returns
    -------
    Rfs
        As the format's generator makes them.

    Raises
    ------
    UsageError
        When there is no such format, or an option is none of its generator's.
    UnknownFormatError
        When the content is of no format that is known.
    ShadowzarrError
        As the format's generator raises them.
    """
    place = source if local_file is None else local_file

    def generate(found: Format) -> Rfs:
        chosen = _chosen(found, defaults or {}, options)
        return _GENERATORS[found].run(source, local_file, progress=progress, **chosen)

    with counted():
        if format is None and likely is not None:
            try:
                return generate(likely)
            except NotHDF5Error:
                format = _otherwise(place)  # noqa: A001
                if format is None:
                    raise
        return generate(recognize(place) if format is None else format)


def options_of(format: Format) -> frozenset[str]:  # noqa: A002 - as above
    """Names of the options that the generator of a format takes.

    Raises
    ------
    UsageError
        When there is no such format.
    """
    if format not in _GENERATORS:
        raise UsageError(f"there is no format {format!r}; expected {' or '.join(FORMATS)}")
    return _GENERATORS[format].options


def _chosen(found: Format, defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What the generator is told; an option that it does not know is refused by name."""
    known = options_of(found)
    foreign = sorted(set(options) - known)
    if foreign:
        raise UsageError(
            f"{', '.join(foreign)} cannot be chosen for {TITLES[found]}; its options are "
            f"{', '.join(sorted(known))}"
        )
    usual = {name: value for name, value in defaults.items() if name in known}
    if found == "neo" and usual.get("on_unsupported") == "copy":
        usual["on_unsupported"] = "skip"  # nothing of a recording is copied
    return usual | dict(options)


def _otherwise(place: str | os.PathLike[str]) -> Format | None:
    """The format of a file that is no HDF5 file; None when it is of none, so that this is what is wrong."""
    try:
        found = recognize(place)
    except UnknownFormatError:
        return None
    return None if found == "hdf5" else found


def _generate_hdf5(source: Any, local_file: Any, **options: Any) -> Rfs:
    from .hdf5.generate import generate_rfs

    return generate_rfs(source, local_hdf5_path=local_file, **options)


def _generate_tiff(source: Any, local_file: Any, **options: Any) -> Rfs:
    from .tiff.generate import generate_rfs_tiff

    if local_file is None:
        return generate_rfs_tiff(source, **options)
    described = describe(source)
    path = local_path(canonical(local_file))
    check_local_copy(described, path)
    hosted = _Hosted(lambda file: hosted_url(described.url, path, file), {described.url: described})
    rfs = generate_rfs_tiff(path, url_for=hosted.url_for, **options)
    hosted.check(rfs)
    return rfs


class _Hosted:
    """Where the files of a set are hosted, and whether they are the same there.

    Parameters
    ----------
    find : callable
        Gives the URL of a local file.
    asked : dict, optional
        What was asked and checked already, by URL.
    """

    def __init__(self, find: Callable[[str], str], asked: dict[str, Source] | None = None) -> None:
        self._find, self._asked = find, asked or {}
        self._copies: dict[str, str] = {}

    def url_for(self, file: str) -> str:
        """Where a local file is hosted."""
        url = self._find(file)
        self._copies[url] = file
        return url

    def check(self, rfs: Rfs) -> None:
        """Ask for each file that references name, compare the copy with it, and keep its ETag.

        Raises
        ------
        SourceChangedError
            When a copy is another file.
        ReadError, UsageError
            When a URL cannot be asked, or is a signed one.
        """
        for url, entry in rfs.get("sources", {}).items():
            described = self._asked.get(url)
            if described is None:
                working_on(without_query(url))
                described = describe(url)
                check_local_copy(described, self._copies[url])
            if described.etag is not None:
                entry["etag"] = described.etag


def _generate_neo(source: Any, local_file: Any, **options: Any) -> Rfs:
    from .neo_rawio.generate import generate_rfs_neo
    from .neo_rawio.opening import open_reader

    place = canonical(source if local_file is None else local_file)
    if is_remote(place):
        raise UsageError(
            f"{without_query(place)}: NEO reads recordings from local files only; give a local copy, and "
            "references name the URL"
        )
    copy, url = local_path(place), canonical(source)
    if local_file is None:
        return generate_rfs_neo(open_reader(copy), **options)
    hosted = _Hosted(lambda file: _hosted_beside(url, copy, file))
    rfs = generate_rfs_neo(open_reader(copy), url_for=hosted.url_for, **options)
    hosted.check(rfs)
    return rfs


def _hosted_beside(url: str, copy: str, file: str) -> str:
    """Where a file of a recording is hosted: below a folder's URL, or beside the URL of its first file."""
    if os.path.isdir(copy):  # noqa: PTH112
        return hosted_url(f"{url.rstrip('/')}/.", os.path.join(copy, "."), file)  # noqa: PTH118
    return hosted_url(url, copy, file)


def hosted_url(url: str, copy: str, file: str | os.PathLike[str]) -> str:
    """Where a file of a set is hosted: beside the first one there, as it lies beside the copy here.

    Parameters
    ----------
    url : str
        The hosted first file.
    copy : str
        Its local copy, an absolute path.
    file : str or path-like
        A local file of the set.

    Raises
    ------
    UsageError
        When nothing lies beside the URL: an archive's assets are named by numbers.
    """
    relative = os.path.relpath(os.path.abspath(file), os.path.dirname(copy))  # noqa: PTH100, PTH120
    if relative == os.path.basename(copy):  # noqa: PTH119
        return url
    if asset_address(url) is not None:
        raise UsageError(
            f"{copy} is one of several files, and where {relative} is cannot be told from {url}; "
            "give the URL of the object itself"
        )
    if not is_remote(url):
        return os.path.normpath(os.path.join(os.path.dirname(url), relative))  # noqa: PTH118, PTH120
    parts = urlsplit(url)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(parts.path), quote(relative)))
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


_GENERATORS: Final[dict[Format, _Generator]] = {
    "hdf5": _Generator(
        frozenset(
            {
                "chunk_index_threshold",
                "contiguous_chunk_bytes",
                "on_unsupported",
                "inline_limit",
                "allow_external",
                "hdf5_section",
            }
        ),
        _generate_hdf5,
    ),
    "tiff": _Generator(
        frozenset({"chunk_index_threshold", "on_unsupported", "inline_limit"}), _generate_tiff
    ),
    "neo": _Generator(frozenset({"stream", "block", "segment", "on_unsupported"}), _generate_neo),
}
