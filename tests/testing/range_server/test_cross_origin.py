"""The range server lets pages of other origins read, as S3 does."""

from shadowzarr.testing import CrossOrigin, Fault, RangeServer
from tests.support.served_range import get_range


def test_page_of_another_origin_may_read(client, url):
    response = get_range(client, url, "0-1", Origin="https://example.org")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Expose-Headers"] == "Content-Range, Content-Length"
    assert "Access-Control-Allow-Origin" not in client.get(url).headers
    assert "Access-Control-Allow-Origin" not in client.head(url, headers={"Origin": "null"}).headers


def test_errors_can_be_read_by_pages_too(client, server):
    server.faults.add(Fault(status=503, times=1))
    for _ in range(2):
        response = client.get(server.url("none"), headers={"Origin": "null"})
        assert response.headers["Access-Control-Allow-Origin"] == "*"


def preflight(client, url, method="GET", headers="range, if-match"):
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return client.options(url, headers={"Origin": "https://example.org", **asked})


def test_preflight(client, url):
    response = preflight(client, url)
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Headers"] == "range, if-match"
    assert response.headers["Access-Control-Allow-Methods"] == "GET"
    assert preflight(client, url, method="HEAD").status_code == 403


def test_cors_can_be_narrowed_and_switched_off(client, folder):
    with RangeServer(folder, cross_origin=CrossOrigin(request_headers=("range",))) as server:
        assert preflight(client, server.url("empty"), headers="range").status_code == 200
        assert preflight(client, server.url("empty")).status_code == 403
    with RangeServer(folder, cross_origin=None) as server:
        assert preflight(client, server.url("empty")).status_code == 403
        answer = client.get(server.url("empty"), headers={"Origin": "null"})
        assert "Access-Control-Allow-Origin" not in answer.headers
