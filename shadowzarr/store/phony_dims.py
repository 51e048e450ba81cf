"""Names for axes that have none, as h5netcdf gives them with ``phony_dims="sort"``, for xarray.

Groups are gone through from the root, each before those below it. An axis takes the name of a dimension of
its own group that has its extent, of the scales there and then of those invented; where none is left one is
invented, ``phony_dim_N`` with the next number of the file. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_Nodes = Mapping[str, Mapping[str, Any]]


def phony_names(nodes: _Nodes) -> dict[str, list[str]]:
    """Names of all axes of the arrays that have some without.

    Parameters
    ----------
    nodes : mapping
        The ``zarr.json`` of every node, by its path, in the order of the file.
    """
    children: dict[str, list[str]] = {}
    for path in nodes:
        if path:
            children.setdefault(path.rpartition("/")[0], []).append(path)
    number = 0
    named: dict[str, list[str]] = {}
    for group in _groups("", nodes, children):
        arrays = {path: nodes[path] for path in children.get(group, ()) if _is_array(nodes[path])}
        dimensions = _scales(arrays)
        number += sum(map(len, dimensions.values()))  # h5netcdf counts them too, group by group
        wanted: Counter[int] = Counter()
        for node in arrays.values():
            wanted |= Counter(node["shape"] if None in _names(node) else ())
        for extent, count in wanted.items():
            for _ in range(len(dimensions.get(extent, ())), count):
                dimensions.setdefault(extent, []).append(f"phony_dim_{number}")
                number += 1
        named |= {path: _filled(node, dimensions) for path, node in arrays.items() if None in _names(node)}
    return named


def _groups(path: str, nodes: _Nodes, children: Mapping[str, list[str]]) -> Iterator[str]:
    stack = [path]
    while stack:
        group = stack.pop()
        yield group
        stack += [each for each in reversed(children.get(group, ())) if not _is_array(nodes[each])]


def _scales(arrays: _Nodes) -> dict[int, list[str]]:
    """Dimensions of a group that have names, by their extent."""
    found: dict[int, list[str]] = {}
    for path, node in arrays.items():
        if _attributes(node).get("CLASS") == "DIMENSION_SCALE" and node["shape"]:
            found.setdefault(node["shape"][0], []).append(path.rpartition("/")[2])
    return found


def _filled(node: Mapping[str, Any], dimensions: Mapping[int, list[str]]) -> list[str]:
    given = _names(node)
    used = {name for name in given if name is not None}
    names = []
    for name, extent in zip(given, node["shape"], strict=True):
        chosen = next(each for each in dimensions[extent] if each not in used) if name is None else name
        used.add(chosen)
        names.append(chosen)
    return names


def _names(node: Mapping[str, Any]) -> list[str | None]:
    return list(node.get("dimension_names") or [None] * len(node["shape"]))


def _attributes(node: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = node.get("attributes")
    return attributes if isinstance(attributes, Mapping) else {}


def _is_array(node: Mapping[str, Any]) -> bool:
    return node.get("node_type") == "array"
