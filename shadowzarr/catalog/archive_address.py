"""Which archive a run works with, in a form that may travel: it names a key's variable, never a key."""

from __future__ import annotations

from dataclasses import dataclass

from ..access.archives import register_archive


@dataclass(frozen=True)
class ArchiveAddress:
    """Which archive, and where its key is found; holds no key.

    Attributes
    ----------
    api_url : str
        Root of the API.
    api_key_env : str, optional
        Name of the environment variable that holds the API key.
    """

    api_url: str
    api_key_env: str | None = None

    def register(self) -> None:
        """Make this process know whose key goes where."""
        register_archive(self.api_url, key_env=self.api_key_env)
