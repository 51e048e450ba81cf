"""The one door to optional libraries: import them, or say which extra brings them."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from .errors import MissingDependencyError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional library.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of shadowzarr that installs it.

    Raises
    ------
    MissingDependencyError
        When the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not module.startswith(error.name):
            raise  # the library is there, but one of its own requirements is not
        raise _missing(module, extra) from error


def require_installed(*modules: str, extra: str) -> None:
    """Refuse to go on without optional libraries, and import none of them.

    Parameters
    ----------
    *modules : str
        Dotted names.
    extra : str
        The extra of shadowzarr that installs them.

    Raises
    ------
    MissingDependencyError
        When one is not installed.
    """
    for module in modules:
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            raise _missing(module, extra)


def _missing(module: str, extra: str) -> MissingDependencyError:
    from ._installation import install_extra  # looks at what is installed, which takes a while to import

    return MissingDependencyError(
        f"this needs {module.partition('.')[0]}, which is not installed; "
        f"install it with: {install_extra(extra)}"
    )
