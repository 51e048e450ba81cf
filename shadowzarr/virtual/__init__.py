"""Arrays stored in other files: cut, joined and transposed without their data, and put into references."""

from .array import VirtualArray
from .combine import concatenate, stack

__all__ = ["VirtualArray", "concatenate", "stack"]
