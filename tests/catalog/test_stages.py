import pytest

from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.plan import AssetWork, record_key
from shadowzarr.catalog.records import VerificationSummary
from shadowzarr.catalog.stages import AssetResults, Workshop, error_summary, success_record, verification_of
from shadowzarr.errors import NotHDF5Error, OutputError, ReferencesDifferError, TransientReadError


def test_an_error_in_short():
    summary = error_summary("index", TransientReadError("busy\nnow"))
    assert (summary.stage, summary.kind, summary.message, summary.transient) == (
        "index",
        "TransientReadError",
        "busy now",
        True,
    )
    assert error_summary("index", NotHDF5Error("")).message == "no message"


@pytest.mark.parametrize(
    "text",
    ["GET https://s3/b/k?X-Amz-Signature=abc&x=1 failed", "failed: 'https://s3/b/k?X-Amz-Signature=abc'"],
)
def test_signatures_stay_out_of_messages(text):
    message = error_summary("verify", RuntimeError(text)).message
    assert "abc" not in message
    assert "https://s3/b/k" in message
    assert "failed" in message


def test_what_a_verification_found_comes_with_its_error():
    summary = VerificationSummary("full", difference_count=2)
    assert verification_of(ReferencesDifferError(summary)) == summary
    assert verification_of(NotHDF5Error("x")) is None


def work_of(asset, layout, *, private=False):
    key = record_key(asset, layout.options)
    return AssetWork(asset, asset.download_url, layout.options, key, "new", private)


def test_an_embargoed_asset_never_goes_to_the_public_output(asset, layout):
    shop = Workshop(public=layout, private=None, pool=None, archive=None, verification=VerificationOptions())
    assert shop.layout(work_of(asset, layout)) is layout
    with pytest.raises(OutputError, match="no private output"):
        shop.layout(work_of(asset, layout, private=True))


def test_nothing_is_recorded_as_done_that_was_not_published(asset, layout):
    with pytest.raises(ValueError, match="indexed and published"):
        success_record(work_of(asset, layout), AssetResults())
