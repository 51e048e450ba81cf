"""Rules for files and addresses, with literals."""

from pathlib import Path

import pytest

from shadowzarr.access.allowed_places import check_root, is_below, is_internal, real_roots
from shadowzarr.access.s3_locations import http_url
from shadowzarr.errors import RefusedPlaceError, UsageError


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.255.0.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.9.9", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
        *("224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe"),
        *("2002:7f00:1::", "2002:a00:1::1", "2001:db8::1"),
    ],
)
def test_internal_addresses(address: str) -> None:
    assert is_internal(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "52.216.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet(address: str) -> None:
    assert not is_internal(address)


def test_below(tmp_path: Path) -> None:
    assert is_below("/a/b", "/a")
    assert is_below("/a", "/a")
    assert is_below("/a", "/")
    assert not is_below("/ab", "/a")
    roots = real_roots(tmp_path)
    assert roots == real_roots(str(tmp_path)) == real_roots([tmp_path]) == real_roots([tmp_path.as_uri()])
    assert real_roots(None) is None
    assert real_roots([]) == ()
    assert check_root(f"{tmp_path}/a/../b", roots) == f"{roots[0]}/b"
    for outside in (f"{tmp_path}/..", "/", "/etc/passwd", "a\0b"):
        with pytest.raises(RefusedPlaceError):
            check_root(outside, roots)


@pytest.mark.parametrize("bucket", ["localhost#", "127.0.0.1:80#x", "h?x", "u@h", "a\\b", "h%2f", "bücket"])
def test_a_bucket_that_would_name_another_host(bucket: str) -> None:
    with pytest.raises(UsageError, match="bucket"):
        http_url(f"s3://{bucket}/key")
