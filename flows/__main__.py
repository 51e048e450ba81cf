"""``python -m flows``: run a configuration, show its plan, or print the schema of a flow's configuration."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter

from shadowzarr.catalog.run_summary import EXIT_FAILURE
from shadowzarr.cli.streams import give_up
from shadowzarr.cli.usage import CALLED_WRONGLY, usage_text

from .commands import print_schema, run_config, run_demo

app = App(
    name="flows",
    help="Index dandisets, folders and lists of files from a YAML file. Exit codes: 0 all went well; "
    "1 something failed; 2 called wrongly; 3 no asset failed, but some objects could not be represented; "
    "129, 130 and 143 ended by a signal.",
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
    return run_demo()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; a wrong call is one line, as for ``shadowzarr``."""
    try:
        code = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        print(f"flows: error: {usage_text(error, command='python -m flows')}", file=sys.stderr)
        return CALLED_WRONGLY
    except BrokenPipeError:  # whoever reads has seen enough
        give_up(sys.stdout)
        return EXIT_FAILURE
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
