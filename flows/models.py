"""The model of each flow, by the value of ``flow:``."""

from __future__ import annotations

from .backfill_config import BackfillConfig
from .config import IndexDandisetsConfig
from .verify_config import VerifyOutputsConfig

type AnyConfig = IndexDandisetsConfig | VerifyOutputsConfig

FLOWS: dict[str, type[IndexDandisetsConfig] | type[VerifyOutputsConfig]] = {
    "index_dandisets": IndexDandisetsConfig,
    "backfill": BackfillConfig,
    "verify_outputs": VerifyOutputsConfig,
}
