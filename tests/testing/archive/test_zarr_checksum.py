"""The checksum of a Zarr store is that of the reference implementation."""

import pytest

from shadowzarr.testing.archive.zarr_checksum import zarr_checksum

FILES = [
    ("zarr.json", "1" * 32, 5),
    ("a/c/0", "2" * 32, 7),
    ("a/zarr.json", "3" * 32, 11),
    ("b.c", "4" * 32, 0),
]


def test_empty_store():
    assert zarr_checksum([]) == "481a2f77ab786a0f45aafd5db0971caa-0--0"


def test_order_does_not_matter_and_content_does():
    assert zarr_checksum(FILES) == zarr_checksum(FILES[::-1])
    assert zarr_checksum(FILES).endswith("-4--23")
    assert zarr_checksum(FILES) != zarr_checksum([*FILES[:-1], ("b.d", "4" * 32, 0)])


def test_like_the_reference():
    reference = pytest.importorskip("zarr_checksum.checksum", reason="comes with the extra dandi")
    inner = reference.ZarrChecksumManifest(files=[reference.ZarrChecksum("2" * 32, "0", 7)]).generate_digest()
    a = reference.ZarrChecksumManifest(
        directories=[reference.ZarrChecksum(inner.digest, "c", 7)],
        files=[reference.ZarrChecksum("3" * 32, "zarr.json", 11)],
    ).generate_digest()
    root = reference.ZarrChecksumManifest(
        directories=[reference.ZarrChecksum(a.digest, "a", 18)],
        files=[reference.ZarrChecksum("1" * 32, "zarr.json", 5), reference.ZarrChecksum("4" * 32, "b.c", 0)],
    ).generate_digest()
    assert zarr_checksum(FILES) == root.digest
