"""Templates: short names for the URLs of a document, written ``{{u0}}``.

Only plain substitution: kerchunk also allows expressions and functions in templates (jinja2), which
a document from elsewhere could use to run code, so they are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..errors import InvalidReferencesError

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def expand(text: str, templates: Mapping[str, str]) -> str:
    """Put the templates into a URL; in a document without templates braces are part of it.

    Raises
    ------
    InvalidReferencesError
        When the text names a template that the document does not have.
    """
    if not templates or "{{" not in text:
        return text
    return _PLACEHOLDER.sub(lambda match: _value(match[1], templates), text)


def expand_plain(text: str, templates: Mapping[str, str]) -> str:
    """A location that is written out where references have templates; braces may be part of it."""
    is_name = text.startswith("{{") and text not in templates.values()
    return expand(text, templates) if is_name else text


def make_templates(urls: Iterable[str]) -> dict[str, str]:
    """Templates ``u0``, ``u1``, … for the distinct URLs, in the order given.

    A URL that holds ``{{`` itself gets a template too, which is what makes it safe to write.
    """
    return {f"u{number}": url for number, url in enumerate(dict.fromkeys(urls))}


def placeholder(name: str) -> str:
    """How a template's name is written in a URL."""
    return "{{" + name + "}}"


def _value(name: str, templates: Mapping[str, str]) -> str:
    value = templates.get(name)
    if not isinstance(value, str):
        raise InvalidReferencesError(
            f"the references use the template {name!r}, but the document has "
            f"{', '.join(sorted(templates)) or 'no templates'}"
        )
    return value
