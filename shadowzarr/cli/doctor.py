"""``shadowzarr doctor``: what is wrong with this machine, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .exit_codes import DONE, FAILED

if TYPE_CHECKING:
    from ..doctor import Finding


def doctor(
    *,
    archive: str = "dandi",
    s3: Annotated[str | None, Parameter(name="--s3")] = None,
    offline: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Look for what is wrong with this machine, and say what to do.

    Ends with 1 when something is wrong. What is optional, and an archive that is not reached, are notes.

    Parameters
    ----------
    archive
        dandi, dandi-sandbox, or the URL of an archive's API.
    s3
        s3://BUCKET/PREFIX to list with the credentials of the AWS_ variables.
    offline
        Ask nothing of the network.
    json
        Print all findings as one JSON object.
    """
    from ..doctor import examine

    found = []
    for finding in examine(archive=archive, bucket=s3, offline=offline):
        found.append(finding)
        if not json:
            print(_line(finding), flush=True)
    wrong = sum(finding.state == "wrong" for finding in found)
    if json:
        print(_json(found))
    else:
        print("nothing is wrong" if not wrong else f"wrong: {wrong}; what to do stands behind each")
    return FAILED if wrong else DONE


def _line(finding: Finding) -> str:
    remedy = f" -> {finding.remedy}" if finding.remedy else ""
    return f"{finding.state:5}  {finding.check:9}  {finding.says}{remedy}"


def _json(found: list[Finding]) -> str:
    import json
    from dataclasses import asdict

    is_well = all(finding.state != "wrong" for finding in found)
    return json.dumps({"well": is_well, "findings": [asdict(each) for each in found]}, ensure_ascii=False)
