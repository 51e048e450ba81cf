"""Text of strangers, made fit to be shown: secrets out, control characters visible.

Names of assets and of objects, and messages that quote them, come from whoever uploaded a file.
Escaping for HTML is left to jinja2 and `flows.report.svg`; this happens before it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping

REMOVED = "[removed]"

_QUERY = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s\"'<>?#]*)\?[^\s\"'<>]*", re.IGNORECASE)
_USER = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s\"'<>/@]*@", re.IGNORECASE)
_SIGNATURE = re.compile(r"\b(X-Amz-[A-Za-z-]+|AWSAccessKeyId|Signature|Expires)=[^\s&\"'<>]+", re.IGNORECASE)
_AUTHORIZATION = re.compile(r"\b(authorization:?\s+|token\s+|bearer\s+)[\w.+/=-]{16,}", re.IGNORECASE)
_SECRET_NAME = re.compile(r"(API_KEY|TOKEN|SECRET|PASSWORD|ACCESS_KEY)", re.IGNORECASE)
_SHORTEST_SECRET = 8


def environment_secrets(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return the values of environment variables that are named like secrets, the longest first."""
    variables = os.environ if environment is None else environment
    values = {value for name, value in variables.items() if _SECRET_NAME.search(name)}
    return sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len, reverse=True)


def safe_text(text: str, *, secrets: Iterable[str] = ()) -> str:
    """Return text without queries of URLs, signatures, keys and invisible characters.

    Parameters
    ----------
    text : str
        Anything; not escaped for HTML, before or after.
    secrets : iterable of str
        Values that must not appear.
    """
    for secret in secrets:
        text = text.replace(secret, REMOVED)
    text = _QUERY.sub(r"\1", text)
    text = _USER.sub(r"\1", text)
    text = _SIGNATURE.sub(rf"\1={REMOVED}", text)
    text = _AUTHORIZATION.sub(rf"\1{REMOVED}", text)
    return "".join(map(_visible, text))


def shorten(text: str, *, limit: int) -> str:
    """Cut text to a number of characters, the end marked by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _visible(character: str) -> str:
    """Return a character, or its escape when it is a control, a direction mark or a lone surrogate."""
    if character in "\n\t" or unicodedata.category(character)[0] != "C":
        return character
    return character.encode("unicode_escape").decode("ascii")
