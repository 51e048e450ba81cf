"""What may be wrong with a machine that shadowzarr is to work on, and what to do about each.

Nothing is repaired here, and nothing of a key or a password is ever in what is said.
"""

from .examine import examine
from .finding import Finding, State

__all__ = ["Finding", "State", "examine"]
