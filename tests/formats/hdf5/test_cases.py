"""The cases from public bug reports, those about reading over HTTP apart."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from shadowzarr.attributes import decode_attributes
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.write import write_rfs

NAMES = [
    f"B{n:02d}" for n in (1, 2, 4, 5, 6, 8, 10, 12, 14, 15, 17, 18, 19, 21, 22, 23, 25, 27, 28, 31, 32, 34)
]
NAMES += [f"B{n}" for n in (35, 37, 38, 39, 41, 43, 44, 45, 47, 51, 53, 55, 56, 58)]


class Case:
    """One case, generated and read back in one form."""

    def __init__(self, cases: ModuleType, name: str, folder: Path, form: str) -> None:
        self.same, self.same_attr, self.plain = cases.same, cases.same_attr, cases._plain
        path = folder / (f"{name}.nwb" if name == "B58" else f"{name}.h5")
        self.want = cases.CASES[name](path)
        self.rfs = generate_rfs(path, **self.want.get("options", {}))
        write_rfs(self.rfs, folder / form)
        self.size = (folder / form).stat().st_size
        self.root = open_rfs(folder / form)
        self.named = [entry["path"] for entry in self.rfs.get("skipped", [])]

    def attributes(self, node: str) -> dict[str, Any]:
        return decode_attributes((self.root[node] if node else self.root).attrs)

    def is_named(self, node: str) -> bool:
        return any(f"/{node}" == path or f"/{node}".startswith(f"{path}/") for path in self.named)

    def paths(self, value: Any) -> Any:
        return self.plain(np.asarray(value, object))


@pytest.mark.parametrize("form", ["out.json", "out.shadowzarr"])
@pytest.mark.parametrize("name", NAMES)
def test_case(handed_cases: ModuleType, name: str, form: str, tmp_path: Path) -> None:
    if name == "B58":
        pytest.importorskip("pynwb")
    case = Case(handed_cases, name, tmp_path, form)
    _check_values(case)
    _check_attributes(case)
    _check_structure(case)


def _check_values(case: Case) -> None:
    for node, value in case.want.get("arrays", {}).items():
        assert case.same(case.root[node][...], value), node
    for node, values in case.want.get("any_of", {}).items():
        if case.is_named(node) or "_RAGGED" in case.attributes(node):
            assert any(value is None for value in values), node
        else:
            assert any(value is not None and case.same(case.root[node][...], value) for value in values), node
    for node, slices in case.want.get("slices", {}).items():
        for (start, stop), value in slices:
            assert case.root[node][start:stop].tolist() == value
    for node, value in case.want.get("references", {}).items():
        assert case.paths(case.root[node][...]) == value, node
        assert case.attributes(node)["_DTYPE"] == "object_reference"
    for node, fields in case.want.get("fields", {}).items():
        for field, value in fields.items():
            assert case.plain(case.root[node][...][field]) == value, (node, field)


def _check_attributes(case: Case) -> None:
    for node, items in case.want.get("attrs", {}).items():
        for key, value in items.items():
            assert case.same_attr(case.attributes(node)[key], value), (node, key)
    for node, items in case.want.get("attrs_any", {}).items():
        for key, values in items.items():
            assert any(case.same_attr(case.attributes(node).get(key), value) for value in values), (node, key)
    for node, items in case.want.get("stored_attrs", {}).items():
        stored = json.loads(case.rfs["refs"][f"{node}/zarr.json" if node else "zarr.json"])["attributes"]
        assert {key: stored[key] for key in items} == items


def _check_structure(case: Case) -> None:
    for node, value in case.want.get("fill_values", {}).items():
        assert json.loads(case.rfs["refs"][f"{node}/zarr.json"])["fill_value"] == value
    for node in case.want.get("groups", []):
        assert node in case.root
    for node in case.want.get("absent", []):
        assert f"{node}/zarr.json" not in case.rfs["refs"]
    for group, links in case.want.get("links", {}).items():
        for link in links:
            assert link in case.attributes(group)["_LINKS"]
    for group, alternatives in case.want.get("links_any", {}).items():
        for links in alternatives:
            assert any(link in case.attributes(group)["_LINKS"] for link in links)
    for node in case.want.get("scalar_strings", []):
        assert case.root[node].shape == ()
    for one, other in case.want.get("same_object", []):
        assert _resolved(case, one) == _resolved(case, other)
    assert sum("linked" not in entry for entry in case.rfs["sources"].values()) == 1
    _check_other_files(case)
    if "document_bytes" in case.want.get("limits", {}) and case.size > 4096:
        assert case.size <= case.want["limits"]["document_bytes"]


def _check_other_files(case: Case) -> None:
    """No bytes of another file under this one's name: B37's chunks are told apart by their offsets."""
    others = case.want.get("other_files", [])
    named = {Path(url).name for url, entry in case.rfs["sources"].items() if "linked" in entry}
    assert named <= {Path(other).name for other in others}
    if "absent" in case.want and others:
        assert named == {Path(other).name for other in others}


def _resolved(case: Case, path: str) -> str:
    """The node that a path leads to through ``_LINKS``."""
    at = ""
    for part in path.split("/"):
        links = {link["name"]: link["path"] for link in case.attributes(at).get("_LINKS", [])}
        at = links[part].strip("/") if part in links else f"{at}/{part}".strip("/")
    assert f"{at}/zarr.json" in case.rfs["refs"], path
    return at
