"""What the two attribute conventions share: how a node registers one, and walking nested values.

A node registers a convention by an object in the list ``zarr_conventions`` of its attributes (Zarr
Conventions specification), recognised by its ``uuid``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

REGISTRY_KEY = "zarr_conventions"


@dataclass(frozen=True)
class Convention:
    """A way to store values that JSON lacks.

    Attributes
    ----------
    uuid, name, description : str
        How a node names the convention.
    is_special : callable
        Whether a value is one that JSON lacks.
    encode, decode : callable
        Stored form of one value that is no list and no mapping, and back.
    """

    uuid: str
    name: str
    description: str
    is_special: Callable[[Any], bool]
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]

    def needed_by(self, value: Any) -> bool:
        """Whether a value, or one nested in it, is one that JSON lacks."""
        if isinstance(value, Mapping):
            return any(self.needed_by(item) for item in value.values())
        if isinstance(value, list):
            return any(self.needed_by(item) for item in value)
        return self.is_special(value)

    def is_registered(self, attributes: Mapping[str, Any]) -> bool:
        """Whether a node's stored attributes follow the convention."""
        entries = attributes.get(REGISTRY_KEY)
        return isinstance(entries, list) and any(self._names(entry) for entry in entries)

    def encode_all(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes in their stored form, with the registration; unchanged when it is not needed."""
        if not self.needed_by(attributes):
            return dict(attributes)
        encoded = {key: _map(self.encode, value) for key, value in _without_registry(attributes).items()}
        entry = {"uuid": self.uuid, "name": self.name, "description": self.description}
        encoded[REGISTRY_KEY] = [*attributes.get(REGISTRY_KEY, []), entry]
        return encoded

    def decode_all(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes as they were, without the registration; unchanged when there is none."""
        if not self.is_registered(attributes):
            return dict(attributes)
        decoded = {key: _map(self.decode, value) for key, value in _without_registry(attributes).items()}
        others = [entry for entry in attributes[REGISTRY_KEY] if not self._names(entry)]
        if others:
            decoded[REGISTRY_KEY] = others
        return decoded

    def _names(self, entry: Any) -> bool:
        return isinstance(entry, Mapping) and entry.get("uuid") == self.uuid


def _without_registry(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if key != REGISTRY_KEY}


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _map(function, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_map(function, item) for item in value]
    return function(value)
