"""The command itself: which verbs there are, and how an error ends.

Every error is one line on the standard error stream, without a traceback unless ``--debug`` is given.
Exit codes: 0 done, 1 failed (or, for ``verify``, different), 2 called wrongly, 3 done but something was
left out, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError

from ..errors import ShadowzarrError

FAILED: Final = 1
CALLED_WRONGLY: Final = 2
LEFT_OUT: Final = 3
INTERRUPTED: Final = 130

DEBUG = "--debug"
VERBS = ("generate", "info", "verify", "archive")


def _version() -> str:
    from importlib.metadata import version

    return version("shadowzarr")


app = App(
    name="shadowzarr",
    help="HDF5 files as Zarr v3, without copying a byte.",
    help_epilogue=f"With {DEBUG}, an error shows where it was raised.",
    help_format="plaintext",
    version=_version,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for _verb in VERBS:
    app.command(f"shadowzarr.cli.{_verb}:{_verb}", name=_verb)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the command's own name; those of the process when left out.

    Returns
    -------
    int
        The exit code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in given
    if debug:
        given.remove(DEBUG)
    try:
        code = app(given, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return FAILED
    except CycloptsError as error:
        return _fail(_usage(error), CALLED_WRONGLY, debug=debug)
    except Exception as error:  # noqa: BLE001 - the one place where an error becomes a message
        return _fail(_message(error), FAILED, debug=debug)
    return code if isinstance(code, int) else 0


def _usage(error: CycloptsError) -> str:
    return f"{_one_line(str(error))} (see shadowzarr --help)"


def _message(error: Exception) -> str:
    """What an error says, in one line that stands by itself."""
    text = _one_line(str(error))
    if isinstance(error, ShadowzarrError):
        return text
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return f"unexpected {type(error).__name__}: {text} (run with {DEBUG} to see where)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fail(message: str, code: int, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"shadowzarr: error: {message}", file=sys.stderr)
    return code
