"""A stand-in for the DANDI archive: its API and its object store, over files on this machine."""

from .archive import Archive
from .contents import Asset, Blob, Dandiset, User, Version, ZarrStore
from .folder import FolderArchive
from .serve import serve_folder
from .server import ArchiveServer

__all__ = [
    "Archive",
    "ArchiveServer",
    "Asset",
    "Blob",
    "Dandiset",
    "FolderArchive",
    "User",
    "Version",
    "ZarrStore",
    "serve_folder",
]
