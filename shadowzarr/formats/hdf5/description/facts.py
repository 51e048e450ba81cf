"""What the section says of one object, as far as it is in the file: taken while the object is open.

The rest is decided when the document is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from h5py import h5, h5a

from ....hdf5_types.fill import fill_to_json
from ....hdf5_types.properties import dataset_properties, group_properties
from ....hdf5_types.references import References
from ....hdf5_types.spaces import NULL, space_to_json
from ..inventory import ObjectKind, address_of_committed, kind_of
from ..known_types import KnownType, known_type
from ..opened_object import OpenedDataset, OpenedObject
from ..reasons import CannotRepresentError, reading
from ..stored_attributes import StoredAttribute, StoredAttributes
from .reading import attribute_values


@dataclass(frozen=True, slots=True)
class Unread:
    """In place of what could not be read: the reason."""

    reason: str


@dataclass(slots=True)
class Facts:
    """One object.

    Attributes
    ----------
    kind : str
        ``group``, ``dataset`` or ``datatype``.
    creation : dict
        Its creation properties as JSON, but a fill value.
    type : KnownType or None
        The datatype of a dataset, or what a committed datatype is.
    committed : int or None
        Address of the committed datatype that a dataset has.
    space : dict
        The dataspace of a dataset as JSON.
    fill : JSON or Unread
        The fill value of a dataset; None for HDF5's own.
    attributes : StoredAttributes
        Its attributes.
    values : dict of bytes to JSON or Unread
        Values of those attributes of which h5py does not read the bits.
    order : list of bytes
        Names of the attributes in the order in which they were made, when that is tracked and differs from
        the order of names.
    comment : bytes
        Its comment; empty when it has none.
    """

    kind: ObjectKind
    creation: dict[str, Any] = field(default_factory=dict)
    type: KnownType | None = None
    committed: int | None = None
    space: dict[str, Any] = field(default_factory=dict)
    fill: Any = None
    attributes: StoredAttributes = field(default_factory=StoredAttributes)
    values: dict[bytes, Any] = field(default_factory=dict)
    order: list[bytes] = field(default_factory=list)
    comment: bytes = b""


def take_facts(opened: OpenedObject, references: References) -> Facts:
    """Take what the section says of an open object.

    Parameters
    ----------
    opened : OpenedObject
        The object.
    references : References
        The objects of the file.

    Raises
    ------
    CannotRepresentError
        When HDF5 does not say what the object is.
    """
    facts = Facts(kind_of(opened.id))
    if isinstance(opened, OpenedDataset):
        _take_dataset(facts, opened, references)
    elif facts.kind == "group":
        with reading("its creation properties"):
            facts.creation = group_properties(opened.properties)
    else:
        with reading():
            facts.type = known_type(opened.id.copy())
    facts.attributes = opened.attributes
    for attribute in facts.attributes.found:
        _take_value(facts, opened, attribute, references)
    if "attributeCreationOrder" in facts.creation:
        facts.order = _order(opened, [attribute.name for attribute in facts.attributes.found])
    return facts


def _take_dataset(facts: Facts, opened: OpenedDataset, references: References) -> None:
    with reading():
        facts.type, facts.committed = opened.type, address_of_committed(opened.tid)
        properties, facts.space = opened.properties, space_to_json(opened.space)
    with reading("its creation properties"):
        facts.creation = dataset_properties(properties)
    try:
        with reading():
            facts.fill = fill_to_json(opened.type.tid, properties, references)
    except CannotRepresentError as error:
        facts.fill = Unread(str(error))


def _take_value(
    facts: Facts, opened: OpenedObject, attribute: StoredAttribute, references: References
) -> None:
    known = attribute.type
    if known is None or attribute.space is NULL or known.is_exact:
        return
    try:
        with reading():
            found = h5a.open(opened.id, attribute.name)
        facts.values[attribute.name] = attribute_values(found, known.tid, references)
    except CannotRepresentError as error:
        facts.values[attribute.name] = Unread(str(error))


def _order(opened: OpenedObject, names: list[bytes]) -> list[bytes]:
    """Names in the order in which they were made; none when that is the order of names."""
    ordered: list[bytes] = []
    try:
        with reading():
            h5a.iterate(opened.id, ordered.append, index_type=h5.INDEX_CRT_ORDER)
    except CannotRepresentError:
        return []
    return [] if ordered == names else ordered
