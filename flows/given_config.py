"""What a flow is given: a configuration, or, by a deployment, the name of its file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from shadowzarr.errors import ConfigError

from .load_config import load_config
from .models import AnyConfig
from .warning_lines import warn


def given_config[C: AnyConfig](config: C | str, changes: Sequence[str] | None, model: type[C]) -> C:
    """Return the configuration that a flow run is for.

    Parameters
    ----------
    config : FlowConfig or str
        A configuration as it is, or a YAML file, relative to the working directory.
    changes : sequence of str, optional
        ``KEY=VALUE`` in place of the file's, as ``--set`` of the command line.
    model : type
        What the flow takes.

    Raises
    ------
    ConfigError
        When the file cannot be read, or is for another flow.
    """
    if not isinstance(config, str):
        if changes:
            raise ConfigError("changes are for the file of a configuration; here is a configuration itself")
        return config
    found = load_config(config, changes=changes or ())
    if type(found) is not model:
        (expected,) = get_args(model.model_fields["flow"].annotation)
        raise ConfigError(f"{config}: flow: found {found.flow!r}, and this is a run of {expected}")
    warn(*found.warnings)
    return found
