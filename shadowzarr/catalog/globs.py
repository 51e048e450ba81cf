"""Glob patterns over asset paths: ``*`` within a part, ``**`` over parts, ``?`` and ``[…]``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_TOKEN = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_FIXED = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Tell whether a path matches one of the patterns; ``**/*.nwb`` matches ``a.nwb`` too."""
    return any(compile_glob(pattern).fullmatch(path) for pattern in patterns)


@functools.lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Turn a glob pattern into a regular expression for whole paths."""
    return re.compile("".join(_translate(token) for token in _TOKEN.findall(pattern)), re.DOTALL)


def _translate(token: str) -> str:
    if token in _FIXED:
        return _FIXED[token]
    if token.startswith("[") and len(token) > 2:
        negated = token.startswith("[!")
        body = token[2:-1] if negated else token[1:-1]
        return f"(?!/)[{'^' if negated else ''}{_escape_set(body)}]"
    return re.escape(token)


def _escape_set(body: str) -> str:
    return re.sub(r"([\\\]\[^&~|])", r"\\\1", body)
