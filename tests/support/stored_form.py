"""How a document stores ``x``, in words, and who can read it."""

import json
from typing import Any

from hdf5_features import LEFT

from shadowzarr.formats.hdf5.h5_filters_to_codecs import HOW

OURS = {entry.filter: entry.readers for entry in HOW}


class Stored:
    """What a document says of ``x``."""

    def __init__(self, rfs: dict[str, Any]) -> None:
        self._rfs = rfs
        self._nodes = {
            key.removesuffix("zarr.json").rstrip("/"): json.loads(value)
            for key, value in rfs["refs"].items()
            if key.endswith("zarr.json") and isinstance(value, str) and value.startswith("{")
        }

    def words(self, topic: str) -> tuple[str, str]:
        skipped = self._rfs.get("skipped", [])
        if topic == LEFT:
            assert skipped
            return f"left out: {skipped[-1]['reason']}", "nobody; it is named in `skipped`"
        assert not skipped, skipped
        attributes = self._nodes[""].get("attributes", {})
        if "x" in attributes:
            return self._attribute(attributes)
        path = next((name for name in self._nodes if name == "x" or name.endswith("/x")), None)
        if path is None:
            return "an entry of `_LINKS` of the group", "hdmf-zarr; `to_hdf5` makes links of them again"
        return self._node(path)

    def _attribute(self, attributes: dict[str, Any]) -> tuple[str, str]:
        text = json.dumps(attributes["x"], separators=(",", ":"), ensure_ascii=False)
        conventions = [each["name"] for each in attributes.get("zarr_conventions", [])]
        with_them = f", by {conventions[0]}" if conventions else ""
        readers = "shadowzarr (`decode_attributes`)" if conventions else "any Zarr v3 reader"
        return f"`{text if len(text) < 200 else text[:40] + '…'}`{with_them}", readers

    def _node(self, path: str) -> tuple[str, str]:
        node = self._nodes[path]
        attributes = node.get("attributes", {})
        marks = [
            f"`{name}`" for name in attributes if name.startswith("_") and name not in ("_DTYPE", "_LINKS")
        ]
        if attributes.get("_DTYPE", "").endswith("_reference"):
            marks.append(f'`_DTYPE: "{attributes["_DTYPE"]}"`')
        if node["node_type"] == "group":
            members = ", ".join(
                f"`{name.rpartition('/')[2]}`" for name in self._nodes if name.startswith(f"{path}/")
            )
            return (
                f"a group of {members}, marked by {', '.join(marks)}",
                "any Zarr v3 reader, as separate arrays",
            )
        parts = [*self._type(node), *self._places(path), *marks]
        if "dimension_names" in node:
            parts.append(f"`dimension_names` {json.dumps(node['dimension_names'])}")
        changes = [each["what"] for each in self._rfs.get("converted", []) if each["path"] == f"/{path}"]
        return "; ".join([", ".join(parts), *changes]), self._readers(node)

    def _type(self, node: dict[str, Any]) -> list[str]:
        name = node["data_type"] if isinstance(node["data_type"], str) else node["data_type"]["name"]
        big = [each for each in node["codecs"] if each.get("configuration", {}).get("endian") == "big"]
        codecs = [f"`{each['name']}`" for each in node["codecs"][1:]]
        fill = json.dumps(node["fill_value"], separators=(",", ":"))
        shown = [] if fill in ("0", "0.0", '""', "false") or len(fill) > 40 else [f"fill value `{fill}`"]
        scalar = [f"shape {tuple(node['shape'])}"] if node["shape"] in ([], [0, 3]) else []
        if name == "int32" and fill == "0" and len(node["shape"]) == 1 and not codecs:
            shown = [f"fill value `{fill}`"]
        return [f"`{name}`", *(["big-endian"] if big else []), *scalar, *codecs, *shown]

    def _places(self, path: str) -> list[str]:
        chunks = [v for k, v in self._rfs["refs"].items() if k == f"{path}/c" or k.startswith(f"{path}/c/")]
        if not chunks:
            return ["no chunks"]
        where = {"the document" if isinstance(value, str) else "the file" for value in chunks}
        number = f"{len(chunks)} chunk{'s' * (len(chunks) > 1)}"
        return [f"in {' and '.join(sorted(where, reverse=True))}", number]

    def _readers(self, node: dict[str, Any]) -> str:
        names = {each["name"] for each in node["codecs"]}
        if "shadowzarr.hdf5_filters" in names:
            numbers = [each["id"] for each in node["codecs"][-1]["configuration"]["filters"]]
            return OURS.get(numbers[-1], "zarr-python with shadowzarr")
        if "imagecodecs_lz4h5" in names:
            return "zarr-python with imagecodecs-zarr (extra hdf5)"
        name = node["data_type"] if isinstance(node["data_type"], str) else node["data_type"]["name"]
        if name == "string" or any(each.startswith("numcodecs.") for each in names):
            return "zarr-python, and readers with this codec"
        if isinstance(node["data_type"], dict) or name == "variable_length_bytes":
            return "zarr-python"
        return "any Zarr v3 reader"
