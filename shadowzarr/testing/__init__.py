"""Servers on the loopback interface for tests, demos and benchmarks.

`RangeServer` serves files as S3 does, `ArchiveServer` an `Archive` as DANDI does; both show faults
(`Fault`) to order and keep a log of what they were asked. Needs nothing beyond the base install.
"""

from .archive import Archive, ArchiveServer, FolderArchive, serve_folder
from .cross_origin import CrossOrigin
from .faults import Effects, Fault, Faults
from .range_server import RangeServer
from .request_log import LoggedRequest, RequestLog

__all__ = [
    "Archive",
    "ArchiveServer",
    "CrossOrigin",
    "Effects",
    "Fault",
    "Faults",
    "FolderArchive",
    "LoggedRequest",
    "RangeServer",
    "RequestLog",
    "serve_folder",
]
