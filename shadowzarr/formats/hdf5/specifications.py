"""The cached specifications of an NWB file.

``.specloc`` of the root group refers to the group that holds them and becomes its plain path. HDMF before
2.0 wrote each specification as an array of one string; they become scalars, since hdmf-zarr parses them
when it opens a file.
"""

from __future__ import annotations

from typing import Any

from .array_plan import ArrayPlan, Plan

SPECLOC = ".specloc"


def plain_location(attributes: dict[str, Any]) -> str | None:
    """Put the plain path in place of the reference ``.specloc``.

    Parameters
    ----------
    attributes : dict
        Of the root group, converted; changed in place.

    Returns
    -------
    str or None
        Path of the group that holds the specifications; None when the file has none.
    """
    value = attributes.get(SPECLOC)
    if isinstance(value, dict) and "_REFERENCE" in value:
        attributes[SPECLOC] = str(value["_REFERENCE"]["path"]).strip("/")
    location = attributes.get(SPECLOC)
    return location.strip("/") if isinstance(location, str) and location else None


def as_scalar(plan: Plan) -> None:
    """Make a specification that is an array of one string a scalar, in place."""
    if isinstance(plan, ArrayPlan) and plan.data_type == "string" and plan.shape == (1,):
        plan.shape, plan.chunk_shape = (), ()
        plan.inline = dict(zip([()], plan.inline.values(), strict=False))
        plan.converted.append("a cached specification of one element, held as a scalar")
