"""All checks in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .finding import Finding

Check = Callable[[], Iterator[Finding]]


def examine(*, archive: str = "dandi", bucket: str | None = None, offline: bool = False) -> Iterator[Finding]:
    """Look at everything that shadowzarr needs, one finding at a time.

    Parameters
    ----------
    archive : str, optional
        Name of a known archive or the URL of its API; is it reached, and is the key for it accepted?
    bucket : str, optional
        ``s3://BUCKET/PREFIX`` that is to be listed with the credentials of the environment.
    offline : bool, optional
        Ask nothing of the network.

    Yields
    ------
    Finding
        Those of this machine first.
    """
    from . import environment, folders

    yield from environment.python()
    libraries = list(environment.libraries())
    yield from libraries
    checks: list[Check] = [environment.extras]
    if all(finding.state == "fine" for finding in libraries):
        from . import codecs  # here, since it imports zarr

        checks.append(codecs.codecs)
    checks.append(folders.folders)
    if not offline:
        from . import network

        checks.append(lambda: network.archive(archive))
        if bucket is not None:
            checks.append(lambda: network.bucket(bucket))
    for check in checks:
        yield from check()
