"""The model of each flow, by the value of ``flow:``."""

from __future__ import annotations

from .backfill_config import BackfillConfig
from .convert_config import ConvertRecordingsConfig
from .index_config import IndexDandisetsConfig
from .materialize_config import MaterializeAssetsConfig
from .refresh_config import RefreshIcechunkConfig
from .verify_config import VerifyOutputsConfig
from .watch_config import WatchDeploymentsConfig

type AnyConfig = (
    IndexDandisetsConfig
    | VerifyOutputsConfig
    | RefreshIcechunkConfig
    | MaterializeAssetsConfig
    | ConvertRecordingsConfig
    | WatchDeploymentsConfig
)

FLOWS: dict[
    str,
    type[IndexDandisetsConfig]
    | type[VerifyOutputsConfig]
    | type[RefreshIcechunkConfig]
    | type[MaterializeAssetsConfig]
    | type[ConvertRecordingsConfig]
    | type[WatchDeploymentsConfig],
] = {
    "index_dandisets": IndexDandisetsConfig,
    "backfill": BackfillConfig,
    "verify_outputs": VerifyOutputsConfig,
    "refresh_icechunk": RefreshIcechunkConfig,
    "materialize_assets": MaterializeAssetsConfig,
    "convert_recordings": ConvertRecordingsConfig,
    "watch_deployments": WatchDeploymentsConfig,
}
