"""How many bytes of values a document that is made ours may hold, of those it was given in another form."""

from __future__ import annotations

from dataclasses import dataclass

from .reasons import NoV3FormError


@dataclass(slots=True)
class HeldBudget:
    """A limit on decoded values, so that a small document does not become a huge one.

    Attributes
    ----------
    limit : int
        Bytes of all values together.
    used : int
        What is taken already.
    """

    limit: int
    used: int = 0

    @property
    def left(self) -> int:
        """Bytes that may still be taken."""
        return self.limit - self.used

    def take(self, nbytes: int) -> None:
        """Take what some values need.

        Raises
        ------
        NoV3FormError
            When that is more than is left; nothing is taken then.
        """
        if nbytes > self.left:
            raise NoV3FormError(
                f"values of {nbytes:,} bytes that have to be held in the document, which may hold "
                f"{self.limit:,}, with {self.used:,} used"
            )
        self.used += nbytes
