"""materialize: a reference file system → an ordinary Zarr store with its values."""

from .layouts import LAYOUTS, Layout
from .report import ArrayReport, MaterializeProgress, MaterializeReport
from .run import materialize

__all__ = [
    "LAYOUTS",
    "ArrayReport",
    "Layout",
    "MaterializeProgress",
    "MaterializeReport",
    "materialize",
]
