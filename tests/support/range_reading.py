"""Ranges that tests of readers ask for, and asking for them, blocking or awaited."""

from shadowzarr.refs.byte_range import FileRange

WANTED = [FileRange(i * 900, 500) for i in range(100)]
ONE = [FileRange(1000, 500)]


def cut(content, ranges):
    return [content[r.offset : r.stop] for r in ranges]


def read(reader, url, ranges, **options):
    return [bytes(part) for part in reader.read(url, ranges, **options)]


async def awaited(reader, url, ranges, **options):
    return [bytes(part) for part in await reader.read_async(url, ranges, **options)]
