"""The keys of a document as a tree of names, so that listing a folder does not scan all keys. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView


class KeyTree:
    """Names below each folder, in the order in which the keys came.

    Parameters
    ----------
    keys : iterable of str
        Keys with ``/`` between their parts.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._names: dict[str, dict[str, None]] = {"": {}}
        for key in keys:
            folder, _, name = key.rpartition("/")
            names = self._names.get(folder)
            if names is None:
                names = self._add_folder(folder)
            names[name] = None

    def children(self, folder: str) -> KeysView[str]:
        """Names of the folders and values directly in a folder; empty when there is no such folder."""
        return self._names.get(folder, {}).keys()

    def keys(self, folder: str) -> Iterator[str]:
        """Every key below a folder."""
        folders = [folder]
        while folders:
            folder = folders.pop()
            prefix = f"{folder}/" if folder else ""
            for name in self.children(folder):
                path = prefix + name
                if path in self._names:
                    folders.append(path)
                else:
                    yield path

    def _add_folder(self, folder: str) -> dict[str, None]:
        names = self._names[folder] = {}
        while folder:
            folder, _, name = folder.rpartition("/")
            known = folder in self._names
            self._names.setdefault(folder, {})[name] = None
            if known:
                break
        return names
