"""What a caller hears while references are generated: the same for every format."""

from __future__ import annotations

from ..progress import GenerationEvent as GenerationEvent
from ..progress import ProgressCallback as ProgressCallback
from ..progress import Stage as Stage
