"""How many bytes of values a document may hold: the same for every format."""

from __future__ import annotations

from ..inline_budget import InlineBudget as InlineBudget
