"""What is said when a command is called wrongly: one line, and where its help is.

For every command of this repository; how they end otherwise is their own matter.
"""

from __future__ import annotations

from cyclopts import CycloptsError, MissingArgumentError


def usage_text(error: CycloptsError, *, command: str) -> str:
    """Say what is wrong with a call in one line.

    Parameters
    ----------
    error : CycloptsError
        What the parser found.
    command : str
        The command without its verb, as it is typed.
    """
    verb = "".join(f" {part}" for part in error.command_chain or ())
    text = one_line(str(error))
    if isinstance(error, MissingArgumentError) and error.argument is not None and not error.keyword:
        text = f"{verb.strip()} needs {error.argument.name.lstrip('-').upper()}"
    return f"{text} (see {command}{verb} --help)"


def one_line(text: str) -> str:
    """Join lines."""
    return " ".join(text.split())
