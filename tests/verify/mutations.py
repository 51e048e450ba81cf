"""A document on disk that a test may change, in either form.

Knows the document's JSON only; the changes themselves are in `test_mutations`.
"""

import base64
import json
import shutil
from pathlib import Path

import zarr


class Document:
    """The references at a path, changed in place."""

    def __init__(self, path):
        self.path = Path(path)
        self.file = self.path / "refs.json" if self.path.is_dir() else self.path
        self.rfs = json.loads(self.file.read_text())

    @classmethod
    def copy(cls, source, target):
        source = Path(source)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        return cls(target)

    @property
    def is_directory(self):
        return self.path.is_dir()

    @property
    def refs(self):
        return self.rfs["refs"]

    def metadata(self, path):
        return json.loads(self.refs[f"{path}/zarr.json" if path else "zarr.json"])

    def set_metadata(self, path, metadata, **dump):
        self.refs[f"{path}/zarr.json" if path else "zarr.json"] = json.dumps(metadata, **dump)

    def change(self, path, function):
        """Change a node's metadata in place."""
        metadata = self.metadata(path)
        function(metadata)
        self.set_metadata(path, metadata)

    def change_attributes(self, path, function):
        self.change(path, lambda metadata: function(metadata["attributes"]))

    def drop(self, path):
        """Take a node and all below it out of the document."""
        gone = [key for key in self.refs if key.startswith(f"{path}/")]
        for key in gone:
            del self.refs[key]
        for part in ("indexes", "selections"):
            self.rfs.get(part, {}).pop(path, None)

    def inline(self, key):
        return base64.b64decode(self.refs[key].removeprefix("base64:"))

    def set_inline(self, key, data):
        self.refs[key] = "base64:" + base64.b64encode(data).decode()

    def gen_entry(self, path):
        return next(entry for entry in self.rfs["gen"] if entry["key"].startswith(f"{path}/c/"))

    def index(self, path):
        """The index array, open for writing."""
        entry = self.rfs["indexes"][path]
        return zarr.open_array(self.path / entry["index"], mode="r+")

    def save(self):
        self.file.write_text(json.dumps(self.rfs))
        return self.path
