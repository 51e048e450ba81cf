"""The command itself: which verbs there are, and how an error ends.

Every error is one line on the standard error stream, without a traceback unless ``--debug`` is given;
lines before it may say what a file was taken for, and what is waited for.
`exit_codes` says which code means what.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Final

from cyclopts import App, CycloptsError

from ..errors import ShadowzarrError
from . import supervised
from .exit_codes import CALLED_WRONGLY, DONE, FAILED, INTERRUPTED, MEANINGS
from .streams import give_up, is_lost, write_anything
from .usage import one_line, usage_text
from .verbs import VERBS, tell_stopped

_MOST_WAITED: Final = 2.0
"""Seconds that what is read may take to end, when it is cancelled."""

DEBUG = "--debug"
_WAITING: Final = logging.getLogger("shadowzarr.waiting")


def _version() -> str:
    from importlib.metadata import version

    return version("shadowzarr")


def _app(given: Sequence[str]) -> App:
    """The command; a verb that is asked for gives its own help, which says more than its line in a list."""
    app = App(
        name="shadowzarr",
        help="HDF5 and TIFF files as Zarr v3, without copying a byte.",
        help_epilogue=_epilogue("", *(verb.examples[0] for verb in VERBS.values())),
        help_format="plaintext",
        version=_version,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for name, verb in VERBS.items():
        lines = {} if name in given[:1] else {"help": verb.line}
        function = name.replace("-", "_")
        place = f"shadowzarr.cli.{function}:{function}"
        app.command(place, name=name, help_epilogue=_epilogue(name, *verb.examples), **lines)
    app.register_install_completion_command(
        help="Let the shell complete verbs and options (bash, zsh, fish)."
    )
    return app


def _epilogue(verb: str, *examples: str) -> str:
    """What help ends with: examples, exit codes, and the option that every verb has."""
    lines = ["Examples:", *(f"  {example}" for example in examples)]
    if not verb:
        codes = ", ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items())
        lines += ["", f"Exit codes: {codes}."]
    return "\n".join([*lines, "", f"With {DEBUG}, an error shows where it was raised."])


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
    if sys.stdout is None:
        return _fail("standard output is closed; give it a place, such as /dev/null", FAILED, debug=False)
    write_anything(sys.stdout)
    code = _run(given, debug=debug, own_process=arguments is None)
    if code and arguments is None:
        _end_reading()
    try:
        sys.stdout.flush()
    except OSError as error:
        return code if code == INTERRUPTED else _lost(error, debug=debug)
    return code


def _end_reading() -> None:
    """Cancel what is still read after a failure, or it is complained of while the process ends."""
    zarr_sync = sys.modules.get("zarr.core.sync")
    loop = None if zarr_sync is None else zarr_sync.loop[0]
    if loop is None or not loop.is_running():
        return
    import asyncio

    async def cancel() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=_MOST_WAITED) if others else None

    with contextlib.suppress(TimeoutError):
        asyncio.run_coroutine_threadsafe(cancel(), loop).result(2 * _MOST_WAITED)


def _run(given: list[str], *, debug: bool, own_process: bool) -> int:
    try:
        if own_process and supervised.is_wanted(given):
            return supervised.run([*given, *[DEBUG] * debug])
        with _notices():
            code = _app(given)(given, exit_on_error=False, print_error=False)
    except KeyboardInterrupt:
        tell_stopped(given)
        return INTERRUPTED
    except CycloptsError as error:
        return _fail(usage_text(error, command="shadowzarr"), CALLED_WRONGLY, debug=debug)
    except Exception as error:  # noqa: BLE001 - the one place where an error becomes a message
        if is_lost(error):
            return _lost(error, debug=debug)
        return _fail(_message(error), FAILED, debug=debug)
    return code if isinstance(code, int) else DONE


@contextlib.contextmanager
def _notices() -> Iterator[None]:
    """Say on the standard error stream what is waited for; the library tells it as a log message."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("shadowzarr: %(message)s"))
    before = _WAITING.level
    _WAITING.addHandler(handler)
    _WAITING.setLevel(logging.INFO)
    try:
        yield
    finally:
        _WAITING.removeHandler(handler)
        _WAITING.setLevel(before)


def _lost(error: OSError, *, debug: bool) -> int:
    """End when what is printed cannot be written."""
    give_up(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return FAILED  # whoever reads has seen enough
    return _fail(f"standard output: {error.strerror or error}", FAILED, debug=debug)


def _message(error: Exception) -> str:
    """What an error says, in one line that stands by itself."""
    text = one_line(str(error))
    if isinstance(error, ShadowzarrError):
        return text
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError) or "failed to map segment" in text:
        return f"there is not enough memory{text and ': '}{text}"
    return f"unexpected {type(error).__name__}: {text} (run with {DEBUG} to see where)"


def _fail(message: str, code: int, *, debug: bool) -> int:
    if debug:
        _show_causes(sys.exception())
        traceback.print_exc()
    with contextlib.suppress(OSError):  # there is nowhere to say it
        if sys.stderr is None:
            return code
        print(f"shadowzarr: error: {message}", file=sys.stderr, flush=True)
    return code


def _show_causes(error: BaseException | None) -> None:
    """Let a traceback show what errors hide that were raised ``from None``."""
    while error is not None:
        error.__suppress_context__ = False
        error = error.__cause__ or error.__context__
