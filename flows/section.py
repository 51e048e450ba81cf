"""What sections of configurations share: how strict they are, how lists, folders and names are taken."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints


class Section(BaseModel):
    """A part of a configuration: nothing unknown, nothing converted from another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Texts = Annotated[
    list[Annotated[str, StringConstraints(min_length=1)]],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]
"""A list of texts; one of them may stand for it."""


def absolute(folder: str) -> Path:
    """Name a folder from the root, without ``..``; links are followed only where ``..`` depends on them."""
    path = Path(folder)
    return path.resolve() if ".." in path.parts else path.absolute()
