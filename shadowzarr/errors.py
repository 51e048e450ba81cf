"""Every error that shadowzarr raises of its own accord, in one tree.

The branches say what a caller can do about an error; each class is also the builtin that a caller
would expect::

    ShadowzarrError
    ├── UsageError (ValueError)            change the call, the configuration or the environment
    │   ├── InvalidReferencesError         the document is not a reference file system we can read
    │   ├── NeedsDataError                 a virtual array cannot be cut or joined so without its data
    │   ├── OutOfRangeError (IndexError)   an index that the array does not have
    │   ├── UnsupportedError               the source holds something that cannot be represented
    │   │   └── UnsupportedNodesError      the same of several groups and arrays, each by name
    │   ├── InvalidNWBError                the NWB file that was made breaks NWB's rules; correct its metadata
    │   ├── ConfigError                    a configuration file is wrong
    │   ├── MissingCredentialsError        a key is needed, or the one given is refused
    │   └── OutputBusyError                another run is writing to the output folder
    ├── MissingDependencyError (ImportError)   install an extra
    ├── SourceError (OSError)              the source cannot be used as it is
    │   ├── UnknownFormatError             it is of no format that is known
    │   ├── NotHDF5Error                   it is not an HDF5 file
    │   ├── NotTIFFError                   it is not a TIFF file
    │   ├── DamagedSourceError             truncated or corrupt
    │   ├── SourceChangedError             it is not the file that was indexed; generate again
    │   └── ChildFailedError               the process that read it had to be given up
    │       ├── ChildCrashedError          it crashed, as native libraries do on damaged files
    │       ├── ChildTimedOutError         it took longer than it may
    │       └── ChildOutOfMemoryError      it took more memory than it may
    ├── ReadError (OSError)                bytes could not be had
    │   ├── SourceNotFoundError            nothing is at that place (404, no such file)
    │   ├── AccessDeniedError              401 or 403 after everything was tried
    │   ├── RefusedPlaceError (ValueError) references name a place that they may not; allow it
    │   ├── ShortReadError                 fewer bytes came than were asked for
    │   └── TransientReadError             worth trying again later (429, 5xx, time-outs, resets)
    ├── ArchiveError (OSError)             the archive's API answered with something unusable
    │   ├── NotInArchiveError              no such dandiset, version or asset
    │   └── ArchiveUnavailableError        not reachable, or overloaded, after retries
    ├── OutputError (OSError)              a result could not be written
    │   ├── OutputUnavailableError         its service does not answer, or is overloaded; try again later
    │   └── CommitConflictError            others changed the repository meanwhile; try again later
    ├── ReferencesDifferError (ValueError) references do not give what the file holds; report it
    └── JobError (RuntimeError)            a job for a child process; says nothing about its source
        ├── ChildStartError                no process could be started
        ├── PoolClosedError                the processes are being stopped
        └── ForeignJobError                an exception that could not be brought back as it was

Read errors are ``OSError`` and never ``KeyError`` or ``FileNotFoundError``, because zarr takes those
two for "no such node" and would turn an unreadable chunk into fill values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class ShadowzarrError(Exception):
    """Base of all errors of this library.

    Attributes
    ----------
    transient : bool
        Whether the same call may succeed later without anything being changed.
    retries : int
        How often requests had been tried again when a piece of work, whose requests are counted, ended so.
    """

    transient: bool = False
    retries: int = 0


class UsageError(ShadowzarrError, ValueError):
    """What was asked for cannot be done as asked; change the call."""


class InvalidReferencesError(UsageError):
    """A document is not a reference file system, or one of a newer format."""


class NeedsDataError(UsageError):
    """What was asked of a virtual array would need its data; the message says what works instead."""


class OutOfRangeError(UsageError, IndexError):
    """An index lies outside of a virtual array."""


class UnsupportedError(UsageError):
    """The source holds something that cannot be represented, and ``on_unsupported="error"``."""


class UnsupportedNodesError(UnsupportedError):
    """Groups or arrays that cannot be in the output, all of them; nothing is written.

    Parameters
    ----------
    message : str
        Names the first of them.
    nodes : mapping of str to str
        Why, by path.
    """

    def __init__(self, message: str, nodes: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.nodes = dict(nodes or {})


class InvalidNWBError(UsageError):
    """The NWB file that was made breaks NWB's rules, so it is not published; the message names them."""


class ConfigError(UsageError):
    """A configuration file is wrong; the message says where and what was expected."""


class MissingCredentialsError(UsageError):
    """A key is needed, or the key that was given is refused."""


class OutputBusyError(UsageError):
    """Another run is writing to the output folder."""


class MissingDependencyError(ShadowzarrError, ImportError):
    """An optional library is not installed; the message names the extra."""


class SourceError(ShadowzarrError, OSError):
    """A source file cannot be used as it is."""


class UnknownFormatError(SourceError):
    """The source is of no format that is known, by its first bytes."""


class NotHDF5Error(SourceError):
    """The source is not an HDF5 file."""


class NotTIFFError(SourceError):
    """The source is not a TIFF file."""


class DamagedSourceError(SourceError):
    """The source is truncated or corrupt."""


class SourceChangedError(SourceError):
    """The source is not the file that the references were made from."""


class ChildFailedError(SourceError):
    """The process that worked on a source had to be given up; nothing else was touched.

    Parameters
    ----------
    message : str
        What became of the process, and what to do.
    details : str
        The beginning of what the process wrote to its error stream during the job.
    """

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class ChildCrashedError(ChildFailedError):
    """The process ended by itself or by a signal, as a native library does on a damaged file."""


class ChildTimedOutError(ChildFailedError):
    """The job took longer than it may; its process was killed."""


class ChildOutOfMemoryError(ChildFailedError):
    """The job took more memory than it may; its process was killed."""


class ReadError(ShadowzarrError, OSError):
    """Bytes could not be read.

    Parameters
    ----------
    message : str
        What was asked for, what came, and what to do. Must not hold a query string or a key.
    status : int, optional
        The HTTP status, when there was one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RefusedPlaceError(ReadError, UsageError):  # in this order, since only OSError makes an OSError
    """References name a file or a host that they may not; nothing of it was read."""


class SourceNotFoundError(ReadError):
    """Nothing is at the place a reference names."""


class AccessDeniedError(ReadError):
    """The server refuses the bytes (401 or 403)."""


class ShortReadError(ReadError):
    """Fewer bytes came than were asked for."""


class TransientReadError(ReadError):
    """The read failed in a way that may pass: 429, 5xx, a time-out, a broken connection.

    Parameters
    ----------
    message : str
        As for `ReadError`.
    status : int, optional
        The HTTP status, when there was one.
    retry_after : float, optional
        Seconds the server asks to wait.
    """

    transient = True

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after


class ArchiveError(ShadowzarrError, OSError):
    """The archive's API answered with something that cannot be used."""


class NotInArchiveError(ArchiveError):
    """No such dandiset, version or asset."""


class ArchiveUnavailableError(ArchiveError):
    """The archive cannot be reached, or is overloaded, after all retries."""

    transient = True


class OutputError(ShadowzarrError, OSError):
    """A result could not be written."""


class OutputUnavailableError(OutputError):
    """The service that an output is at does not answer, or is overloaded."""

    transient = True


class CommitConflictError(OutputError):
    """Others committed to the same branch during each try; nothing of ours is committed."""

    transient = True


class Comparison(Protocol):
    """What a comparison of references with their file found: differences and their number."""

    @property
    def differences(self) -> Sequence[str]:
        """The first differences, one line each."""
        ...

    @property
    def difference_count(self) -> int:
        """All of them."""
        ...


class ReferencesDifferError(ShadowzarrError, ValueError):
    """References do not give what the file holds, so they are not published.

    Parameters
    ----------
    summary : Comparison
        What was compared and found.
    """

    advice = "they are not published. This is a fault of shadowzarr: please report it with the asset's URL"
    """How the message ends, which is untrue of references that were published before."""

    def __init__(self, summary: Comparison) -> None:
        count = summary.difference_count
        places = "1 place" if count == 1 else f"{count} places"
        first = f": {summary.differences[0]}" if summary.differences else ""
        super().__init__(f"the references differ from the file in {places}{first}; {self.advice}")
        self.summary = summary

    def __reduce__(self) -> tuple[object, ...]:
        return (ReferencesDifferError, (self.summary,))


class JobError(ShadowzarrError, RuntimeError):
    """A job for a child process did not run or cannot be told about; says nothing about its source."""


class ChildStartError(JobError):
    """No process could be started.

    Parameters
    ----------
    message : str
        Why, as far as the process said it.
    details : str
        The beginning of what the process wrote to its error stream.
    """

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class PoolClosedError(JobError):
    """The pool was closed, so the job did not run or did not end."""


class ForeignJobError(JobError):
    """A job raised an exception that could not be brought back as it was."""
