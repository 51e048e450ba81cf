"""``python -m flows``: run a configuration, show its plan, or print the schema of a flow's configuration."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import App, Parameter

from .commands import print_schema, run_config

app = App(
    name="flows",
    help="Index dandisets from a YAML file. Exit codes: 0 all went well; 1 something failed; "
    "3 all assets were indexed and verified, but some objects could not be represented.",
    version_flags=[],
    result_action="return_value",
)

Changes = Annotated[
    tuple[str, ...],
    Parameter(name="--set", negative="", consume_multiple=False),
]


@app.command
def run(config: str, *, plan: Annotated[bool, Parameter(negative="")] = False, changes: Changes = ()) -> int:
    """Run the flow that a configuration is for.

    Parameters
    ----------
    config
        A YAML file; its key flow says which flow.
    plan
        Print what would be done, and do nothing.
    changes
        KEY=VALUE in place of the file's, such as output.folder=out; may be repeated.
    """
    return run_config(config, changes=changes, is_plan=plan)


@app.command
def plan(config: str, *, changes: Changes = ()) -> int:
    """Print what a configuration would do, and do nothing.

    Parameters
    ----------
    config
        A YAML file.
    changes
        KEY=VALUE in place of the file's, such as output.folder=out; may be repeated.
    """
    return run_config(config, changes=changes, is_plan=True)


@app.command
def schema(flow: str) -> int:
    """Print the JSON Schema of a flow's configuration.

    Parameters
    ----------
    flow
        Name of the flow, such as index_dandisets.
    """
    return print_schema(flow)


@app.command
def demo() -> int:
    """Write sample NWB files, index them from an archive on this machine, and open the results."""
    from .demo import main

    return main()


if __name__ == "__main__":
    sys.exit(app())
