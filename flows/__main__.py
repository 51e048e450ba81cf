"""``python -m flows``: run a configuration, show its plan, or print the schema of a flow's configuration."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from shadowzarr.catalog.run_summary import EXIT_FAILURE
from shadowzarr.cli.exit_codes import CALLED_WRONGLY, INTERRUPTED
from shadowzarr.cli.streams import give_up
from shadowzarr.cli.usage import usage_text

from . import catalog_commands, site_commands
from .commands import print_schema, run_config, run_demo
from .index_command import PLACE, OneDandiset

COMMAND = "python -m flows"

EXAMPLES = {
    "index": (
        "index 000006 references --limit 3",
        "index 000006 references --limit 3 --plan",
    ),
    "run": (
        "run configs/demo.yaml",
        "run configs/demo.yaml --only-failed --json-lines",
        "run configs/demo.yaml --set output.folder=elsewhere",
    ),
    "plan": ("plan configs/demo.yaml", "plan configs/demo.yaml --json-lines"),
    "schema": ("schema index_dandisets",),
    "demo": ("demo",),
    "catalog query": (
        'catalog query demo/output "SELECT asset_path FROM assets"',
        "catalog query demo/output --question types --json",
    ),
    "catalog questions": ("catalog questions",),
    "catalog site": ("catalog site demo/output",),
    "catalog serve": ("catalog serve demo/output", "catalog serve demo/output --port 0"),
    "catalog find": ("catalog find demo/output sub-01_ecephys.nwb --json",),
    "catalog rebuild": ("catalog rebuild demo/output",),
}
"""Commands as they are typed, which help ends with."""


def _version() -> str:
    from importlib.metadata import version

    return version("shadowzarr")


def _epilogue(command: str) -> str:
    lines = [f"  {COMMAND} {example}" for example in EXAMPLES[command]]
    return "\n".join(["Examples:", *lines]) if lines else ""


app = App(
    name=COMMAND,
    help="Index dandisets, folders and lists of files from a YAML file. Exit codes: 0 all went well; "
    "1 something failed; 2 called wrongly; 3 no asset failed, but objects or assets that cannot be done are "
    "left out; 129, 130 and 143 ended by a signal.",
    help_format="plaintext",
    help_epilogue="\n".join(["Examples:", *(f"  {COMMAND} {each[0]}" for each in EXAMPLES.values() if each)]),
    version=_version,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)

Changes = Annotated[
    tuple[str, ...],
    Parameter(name="--set", negative="", consume_multiple=False),
]


Switch = Annotated[bool, Parameter(negative="")]


@Parameter(name="*")
@dataclass(frozen=True)
class Redo:
    """What is done that was done or tried before.

    Parameters
    ----------
    force
        Do all wanted assets again, whatever was done before.
    only_failed
        Do nothing but what failed before, in quarantine or not.
    since
        Do nothing but what was modified then or later: a date or time, such as 2026-03-02.
    """

    force: Switch = False
    only_failed: Switch = False
    since: str | None = None

    @property
    def changes(self) -> list[str]:
        """The same as changes of a configuration."""
        return [
            *(["redo.force=true"] if self.force else []),
            *(["redo.only_failed=true"] if self.only_failed else []),
            *([f"redo.since={self.since}"] if self.since is not None else []),
        ]


@app.command(help_epilogue=_epilogue("index"))
def index(
    dandiset: str,
    output: str,
    *,
    archive: str = "dandi",
    version: str = "draft",
    limit: int | None = None,
    plan: Switch = False,
    changes: Changes = (),
    json_lines: Switch = False,
    redo: Redo | None = None,
) -> int:
    """Index one dandiset, without a configuration file.

    Parameters
    ----------
    dandiset
        Its six digits.
    output
        The folder for references, records and the report, or s3://BUCKET/PREFIX.
    archive
        dandi, dandi-sandbox, or the URL of an archive's API.
    version
        draft, latest, or a published version.
    limit
        At most so many assets, the first by path.
    plan
        Print what would be done, and do nothing.
    changes
        KEY=VALUE of a configuration, such as verification.mode=full; may be repeated.
    json_lines
        Write progress and outcome to standard output as JSON, an object a line, for programs.
    """
    text = OneDandiset(dandiset, output, archive, version, limit).text()
    all_changes = [*changes, *(redo or Redo()).changes]
    return run_config(PLACE, changes=all_changes, is_plan=plan, as_json_lines=json_lines, text=text)


@app.command(help_epilogue=_epilogue("run"))
def run(
    config: str,
    *,
    plan: Switch = False,
    changes: Changes = (),
    json_lines: Switch = False,
    redo: Redo | None = None,
) -> int:
    """Run the flow that a configuration is for.

    Parameters
    ----------
    config
        A YAML file; its key flow says which flow.
    plan
        Print what would be done, and do nothing.
    changes
        KEY=VALUE in place of the file's, such as output.folder=out; may be repeated.
    json_lines
        Write progress and outcome to standard output as JSON, an object a line, for programs.
    """
    all_changes = [*changes, *(redo or Redo()).changes]
    return run_config(config, changes=all_changes, is_plan=plan, as_json_lines=json_lines)


@app.command(help_epilogue=_epilogue("plan"))
def plan(config: str, *, changes: Changes = (), json_lines: Switch = False, redo: Redo | None = None) -> int:
    """Print what a configuration would do, and do nothing.

    Parameters
    ----------
    config
        A YAML file.
    changes
        KEY=VALUE in place of the file's, such as output.folder=out; may be repeated.
    json_lines
        Write the plan to standard output as one JSON object on a line, for programs.
    """
    all_changes = [*changes, *(redo or Redo()).changes]
    return run_config(config, changes=all_changes, is_plan=True, as_json_lines=json_lines)


@app.command(help_epilogue=_epilogue("schema"))
def schema(flow: str) -> int:
    """Print the JSON Schema of a flow's configuration.

    Parameters
    ----------
    flow
        Name of the flow, such as index_dandisets.
    """
    return print_schema(flow)


@app.command(help_epilogue=_epilogue("demo"))
def demo(what: Literal["archive", "recordings"] = "archive") -> int:
    """Write sample files, run a flow over them, and open the results.

    Parameters
    ----------
    what
        archive: NWB files, indexed from an archive on this machine; recordings: a SpikeGLX session and a TIFF
        stack, converted to NWB.
    """
    return run_demo(what)


catalog = App(
    name="catalog",
    help="Ask what an output holds.",
    help_epilogue=_epilogue("catalog query"),
    result_action="return_value",
)
app.command(catalog)


@catalog.command(help_epilogue=_epilogue("catalog rebuild"))
def rebuild(output: str, *, private: Annotated[bool, Parameter(negative="")] = False) -> int:
    """Make the catalogue of an output anew from its records and references.

    Parameters
    ----------
    output
        The output folder.
    private
        It is a private output, whose records are about embargoed assets.
    """
    return catalog_commands.rebuild(output, is_private=private)


@catalog.command(help_epilogue=_epilogue("catalog query"))
def query(
    output: str,
    sql: str | None = None,
    *,
    question: str | None = None,
    form: Annotated[Literal["table", "csv", "jsonl"], Parameter(name="--format")] = "table",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Ask the catalogue of an output.

    Parameters
    ----------
    output
        The output folder.
    sql
        A question to DuckDB over the tables assets, objects and left_out; it may only read.
    question
        Name of a ready question in place of SQL.
    form
        How the answer is printed: as a table, as CSV, or as a JSON object a line.
    as_json
        The same as --format jsonl.
    """
    return catalog_commands.query(output, sql, question=question, form="jsonl" if as_json else form)


@catalog.command(help_epilogue=_epilogue("catalog questions"))
def questions() -> int:
    """Print the ready questions and their SQL."""
    return catalog_commands.questions()


@catalog.command(help_epilogue=_epilogue("catalog find"))
def find(
    output: str, wanted: str, *, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False
) -> int:
    """Print where the results of an asset are.

    Parameters
    ----------
    output
        The output folder.
    wanted
        An asset's identifier, its path (or the end of it), or the ETag of its blob.
    as_json
        Print whole records, one JSON object a line.
    """
    return catalog_commands.find(output, wanted, as_json=as_json)


@catalog.command(help_epilogue=_epilogue("catalog site"))
def site(output: str) -> int:
    """Write the page of the catalogue, index.html, which any web server hands out.

    Parameters
    ----------
    output
        The output folder, or s3://BUCKET/PREFIX.
    """
    return site_commands.write(output)


@catalog.command(help_epilogue=_epilogue("catalog serve"))
def serve(
    output: str,
    *,
    port: int = 8700,
    allow_origin: Annotated[tuple[str, ...], Parameter(negative="")] = (),
) -> int:
    """Hand out an output, and the page in it, to browsers on this machine.

    Parameters
    ----------
    output
        The output folder.
    port
        Of 127.0.0.1; 0 for a free one.
    allow_origin
        Let pages of this origin read too, such as http://localhost:3000; may be repeated, * for any. The
        output needs no page then, and may be any folder.
    """
    return site_commands.serve(output, port=port, origins=allow_origin)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; a wrong call is one line, as for ``shadowzarr``."""
    try:
        code = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        print(f"flows: error: {usage_text(error, command=COMMAND)}", file=sys.stderr)
        return CALLED_WRONGLY
    except KeyboardInterrupt:
        print("flows: interrupted; the same command begins anew", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        give_up(sys.stdout)
        return EXIT_FAILURE
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
