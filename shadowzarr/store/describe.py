"""describe: what references hold, wherever they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..description import Description, describe_document
from .load_rfs import load_rfs


def describe(refs: Mapping[str, Any] | str | os.PathLike[str]) -> Description:
    """Describe references: what they hold, of which files, and what is left out.

    An `Rfs` is a plain dict, which a notebook shows whole; this is for looking at it.

    Parameters
    ----------
    refs : Rfs, str or path
        A document in memory, or what `load_rfs` takes. Nothing but the document is read.

    Returns
    -------
    Description
        Shown as text, or as tables in a notebook.

    Raises
    ------
    InvalidReferencesError
        When the document cannot be understood.
    ReadError
        When it cannot be read.
    """
    return describe_document(refs if isinstance(refs, Mapping) else load_rfs(refs))
