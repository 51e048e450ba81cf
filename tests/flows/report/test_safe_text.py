"""Text of strangers: secrets out, invisible characters visible."""

import pytest

from flows.report.safe_text import environment_secrets, safe_text, shorten


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://h/b?X-Amz-Signature=abc&X=1 gave 403", "GET https://h/b gave 403"),
        ("s3://b/k?versionId=7", "s3://b/k"),
        ("http://user:pass@host/x", "http://host/x"),
        ("resigned X-Amz-Credential=AKIA/2026 here", "resigned X-Amz-Credential=[removed] here"),
        ("Authorization: token 0123456789abcdef0123", "Authorization: token [removed]"),
        ("sub-01/what?now.nwb", "sub-01/what?now.nwb"),
        ("a token of thanks", "a token of thanks"),
    ],
)
def test_queries_and_keys_are_taken_out(text: str, shown: str) -> None:
    assert safe_text(text) == shown


def test_named_secrets_are_taken_out_wherever_they_stand() -> None:
    secrets = environment_secrets(
        {"LAB_API_KEY": "correct-horse", "SHORT_TOKEN": "abc", "HOME": "/root-of-all"}
    )
    assert secrets == ["correct-horse"]
    assert safe_text("it was correct-horse!", secrets=secrets) == "it was [removed]!"


def test_invisible_characters_are_shown_as_escapes() -> None:
    assert safe_text("a\u202egpj.nwb") == "a\\u202egpj.nwb"
    assert safe_text("bell\x07 and lone \udce9") == "bell\\x07 and lone \\udce9"
    assert safe_text("größe µ 東京") == "größe µ 東京"


def test_shorten_keeps_the_limit() -> None:
    assert shorten("abcdef", limit=6) == "abcdef"
    assert shorten("abc defgh", limit=5) == "abc…"
