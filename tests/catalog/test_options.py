from dataclasses import fields, replace

import pytest

from shadowzarr.catalog.options import ReferenceOptions

OTHER = {
    "chunk_index_threshold": None,
    "contiguous_chunk_bytes": 1,
    "on_unsupported": "skip",
    "inline_limit": 1,
    "url": "blob",
    "form": "json",
}


def test_the_digest_is_the_same_for_ever():
    """It is part of every record's name: another digest would redo all work of all users."""
    assert ReferenceOptions().digest == "5d97f7f2396b"


@pytest.mark.parametrize("name", [field.name for field in fields(ReferenceOptions)])
def test_every_option_counts(name):
    assert replace(ReferenceOptions(), **{name: OTHER[name]}).digest != ReferenceOptions().digest
