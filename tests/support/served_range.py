"""The file that tests of the range server ask for, and how they ask."""

import hashlib

CONTENT = bytes(range(256)) * 40
SIZE = len(CONTENT)
ETAG = f'"{hashlib.md5(hashlib.md5(CONTENT).digest()).hexdigest()}-1"'


def code(response):
    return response.text.partition("<Code>")[2].partition("</Code>")[0]


def get_range(client, url, text, **headers):
    return client.get(url, headers={"Range": f"bytes={text}", **headers})
