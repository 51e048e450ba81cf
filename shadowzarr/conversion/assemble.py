"""A recording → NeuroConv's interfaces, their metadata, and the NWB file that it assembles in memory of them.

Runs in a child process, and imports NeuroConv.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

from .. import neuroconv_bridge as _before_neuroconv  # noqa: F401 - it lets NeuroConv be imported
from ..catalog.libraries import library_versions
from ..errors import (
    DamagedSourceError,
    MissingDependencyError,
    ReadError,
    ShadowzarrError,
    SourceNotFoundError,
    UsageError,
)
from ..formats.tiff.reasons import hearing_tifffile
from .interfaces import check_interface, interface_modules
from .request import Interface, Recording
from .sources import check_sources

MOST_TEXT = 600
_SECTIONS = ("NWBFile", "Subject", "Devices", "Ecephys", "Ophys", "Icephys", "Behavior", "TimeSeries")
"""Of metadata, beside those that the interfaces of a recording give."""


class Session:
    """NeuroConv's interfaces over the files of one recording.

    Parameters
    ----------
    recording : Recording
    identifier : str
        Of the NWB file, where the metadata give none.

    Attributes
    ----------
    metadata : dict
        The interfaces' own, with those of the files put over them.

    Raises
    ------
    SourceNotFoundError
        When a file is not there.
    UsageError
        When an interface, an argument or the metadata are wrong.
    DamagedSourceError
        When an interface cannot read its files.
    """

    def __init__(self, recording: Recording, *, identifier: str) -> None:
        check_sources(recording)
        from neuroconv import ConverterPipe

        self.recording = recording
        with _quiet():
            interfaces = {key: _opened(key, each) for key, each in recording.interfaces.items()}
            self._pipe = ConverterPipe(interfaces)
            self.metadata = self._merged(identifier)
            self._check()

    def build(self) -> Any:
        """Let NeuroConv assemble the NWB file; data stay iterators.

        Raises
        ------
        DamagedSourceError
            When it cannot.
        """
        options = {key: dict(each.options) for key, each in self.recording.interfaces.items() if each.options}
        with _quiet(), explained("NeuroConv cannot assemble an NWB file"):
            return self._pipe.create_nwbfile(metadata=self.metadata, conversion_options=options)

    def _merged(self, identifier: str) -> Any:
        from neuroconv.utils import dict_deep_update, load_dict_from_file

        with explained("NeuroConv cannot read the metadata of the files"):
            metadata = self._pipe.get_metadata()
        metadata["NWBFile"].update(identifier=identifier, **_source_script())
        for path in self.recording.metadata:
            with _wrong(f"metadata {path}"):
                metadata = dict_deep_update(
                    metadata, _sections(load_dict_from_file(path), [*metadata, *_SECTIONS])
                )
        return metadata

    def _check(self) -> None:
        """Compare metadata and conversion options with what NeuroConv's schemas say."""
        named = ", ".join(path.name for path in self.recording.metadata) or "no metadata file is given"
        with _wrong(f"metadata ({named})"):
            self._pipe.validate_metadata(metadata=self.metadata)
            _check_time(self.metadata["NWBFile"].get("session_start_time"))
        options = {key: dict(each.options) for key, each in self.recording.interfaces.items() if each.options}
        with _wrong("conversion_options"):
            self._pipe.validate_conversion_options(conversion_options=options)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn what NeuroConv, or a library that it reads with, raises over a recording into an error of ours.

    Raises
    ------
    ShadowzarrError
        By what was raised: a file that is not there, one that cannot be read, a library that is missing; any
        other is taken for damage.
    """
    try:
        yield
    except (ShadowzarrError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"{what}: {_text(error)}") from error
    except ImportError as error:
        raise MissingDependencyError(
            f"{what}: {_text(error)}; install what NeuroConv needs for this format, as its documentation says"
        ) from error
    except OSError as error:
        raise ReadError(f"{what}: {_text(error)}") from error
    except Exception as error:
        kind = ReadError if _is_denied(error) else DamagedSourceError
        raise kind(f"{what}: {_text(error)}") from error


def _sections(found: Any, known: list[str]) -> Any:
    """What a metadata file holds; NeuroConv takes any name for a section, and passes over one with a typo."""
    if not isinstance(found, dict):
        kind = "nothing" if found is None else f"a {type(found).__name__}"
        raise UsageError(f"expected sections such as NWBFile, found {kind}")
    folded = {name.casefold(): name for name in known}
    for name in found:
        close = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.85)
        if close and name not in known:
            raise UsageError(f"no section is called {name}; did you mean {folded[close[0]]}?")
    return found


def _is_denied(error: BaseException | None) -> bool:
    """Whether rights are what an error comes from, whatever a library made of it."""
    while error is not None and not isinstance(error, PermissionError):
        error = error.__cause__ or error.__context__
    return error is not None


def _check_time(start: Any) -> None:
    """Refuse a time that NeuroConv or NWB would refuse later, without saying where it stands."""
    where = "NWBFile.session_start_time: expected"
    try:
        found = datetime.fromisoformat(start) if isinstance(start, str) else start
    except ValueError as error:
        raise UsageError(f"{where} a time such as 2026-03-02T09:30:00+01:00, found {start!r}") from error
    offset = found.utcoffset() if isinstance(found, datetime) else None
    if offset is not None and offset % timedelta(minutes=1):
        raise UsageError(f"{where} a zone of whole minutes, found {start!r}")


def _source_script() -> dict[str, str]:
    """What NWB says of the program that wrote a file; NeuroConv would name the child process's script."""
    versions = library_versions(names=("shadowzarr", "neuroconv"))
    told = ", ".join(f"{name} {versions[name]}" for name in ("shadowzarr", "neuroconv"))
    return {"source_script": told, "source_script_file_name": "convert_recordings"}


def _opened(key: str, request: Interface) -> Any:
    """The interface itself."""
    check_interface(request.name)
    with explained(f"{key}: {request.name} cannot be imported"):
        kind = getattr(import_module(interface_modules()[request.name]), request.name)
    _check_arguments(key, kind, request.source_data)
    with (
        explained(f"{key}: {request.name} cannot read it"),
        _hearing_of_lost_pages(key),
        _wrong_arguments(key, request.name),
    ):
        return kind(**request.source_data)


@contextmanager
def _hearing_of_lost_pages(key: str) -> Iterator[None]:
    """Refuse a TIFF file whose later pages lie behind its end: tifffile logs that, and gives those before.

    Raises
    ------
    DamagedSourceError
        With what was logged.
    """
    with hearing_tifffile() as heard:
        yield
    lost = next((each for each in heard if "invalid page offset" in each), None)
    if lost is not None:
        raise DamagedSourceError(f"{key}: a file is truncated or damaged, pages are missing: {lost}")


def _check_arguments(key: str, kind: Any, given: Mapping[str, Any]) -> None:
    parameters = inspect.signature(kind.__init__).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    names = [
        name for name, each in parameters.items() if name != "self" and each.kind is not each.VAR_POSITIONAL
    ]
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        close = difflib.get_close_matches(unknown, names, n=1)
        hint = f"; did you mean {close[0]}?" if close else f"; it takes {', '.join(names)}"
        raise UsageError(f"{key}: source_data of {kind.__name__} has no {unknown!r}{hint}")
    required = [name for name in names if parameters[name].default is inspect.Parameter.empty]
    missing = next((name for name in required if name not in given), None)
    if missing is not None:
        raise UsageError(f"{key}: source_data of {kind.__name__} lacks {missing!r}")


@contextmanager
def _wrong_arguments(key: str, name: str) -> Iterator[None]:
    """Turn what pydantic, which NeuroConv asks, says of arguments of another type into a usage error."""
    try:
        yield
    except ValueError as error:
        found: Any = error
        if not str(getattr(error, "title", "")).startswith(f"{name}."):
            raise
        told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found.errors())
        raise UsageError(f"{key}: source_data of {name}: {'; '.join(told)}") from error


@contextmanager
def _wrong(what: str) -> Iterator[None]:
    """Turn what is raised over what somebody wrote into a usage error."""
    try:
        yield
    except OSError as error:
        raise ReadError(f"{what}: {_text(error)}") from error
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from error
    except Exception as error:
        raise UsageError(f"{what}: {_text(error)}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out the warnings of NeuroConv and its libraries: nobody reads them in a child process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _meant(error: Any) -> str:
    """The name that a schema has, nearest to one that it has not."""
    known = (error.schema or {}).get("properties", {}) if error.validator == "additionalProperties" else {}
    for name in error.instance if known else ():
        close = difflib.get_close_matches(str(name), known, n=1)
        if name not in known and close:
            return f"; did you mean {close[0]}?"
    return ""


def _text(error: BaseException) -> str:
    """One line of an error; of a schema's the place and the message without the document."""
    message = getattr(error, "message", None)
    if isinstance(message, str) and hasattr(error, "absolute_path"):  # jsonschema.ValidationError
        place = ".".join(map(str, error.absolute_path))
        return (f"{place}: {message}" if place else message) + _meant(error)
    text = " ".join(str(error).split()) or type(error).__name__
    text = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} …"
    return text if isinstance(error, OSError | AssertionError) else f"{type(error).__name__}: {text}"
