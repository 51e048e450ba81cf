"""Soft links of LINDI's documents: groups that stand for a link. Pure.

LINDI keeps a link's target as HDF5 has it: absolute, or counted from the group that holds the link; on the
way there may be further links.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..zarr_v2 import V2Node
from .marks import SOFT_LINK

_MOST_FOLLOWED = 64
_MOST_NAMES = 2000
"""Names on the way to one node, those in links included."""


class Links:
    """The links of a document.

    Parameters
    ----------
    nodes : mapping of str to V2Node
        All nodes of the document, by path.
    """

    def __init__(self, nodes: Mapping[str, V2Node]) -> None:
        self._nodes = nodes
        self.targets = {
            path: target for path, node in nodes.items() if path and (target := _target(node)) is not None
        }
        """Of each link, by its path: what it says."""

        self._names: dict[str, list[str]] = {}
        for path in self.targets:
            parent, _, name = path.rpartition("/")
            self._names.setdefault(parent, []).append(name)

    def names_in(self, group: str) -> list[str]:
        """Names of the links in a group, in order."""
        return sorted(self._names.get(group, []))

    def is_below_link(self, path: str) -> bool:
        """Whether a path is a link, or in one, where there is no node."""
        parts = path.split("/")
        return any("/".join(parts[:number]) in self.targets for number in range(1, len(parts) + 1))

    def resolve(self, path: str) -> str | None:
        """Path of the node that a path leads to, through links; None when there is none.

        Parameters
        ----------
        path : str
            From the root, with or without a leading slash.
        """
        at = ""
        todo = _names(path)  # the next one last
        followed = walked = 0
        while todo:
            walked += 1
            at = f"{at}/{todo.pop()}" if at else todo.pop()
            if at not in self._nodes or walked + len(todo) > _MOST_NAMES:
                return None
            if at in self.targets:
                followed += 1
                if followed > _MOST_FOLLOWED:
                    return None
                target = self.targets[at]
                start = "" if target.startswith("/") else at.rpartition("/")[0]
                todo += _names(f"{start}/{target}")
                at = ""
        return at


def _names(path: str) -> list[str]:
    """Names of a path, the last one first."""
    return [part for part in path.split("/") if part not in ("", ".")][::-1]


def _target(node: V2Node) -> str | None:
    mark: Any = node.attributes.get(SOFT_LINK)
    path = mark.get("path") if isinstance(mark, Mapping) else None
    return path if isinstance(path, str) else None
