"""What the command shows of a generation: on a terminal only, and what it took."""

import io

from shadowzarr.cli.generation_progress import GenerationProgress, progress_line
from shadowzarr.formats.progress import GenerationEvent

AHEAD = GenerationEvent("read_ahead", requests=68, bytes_read=1_080_000, levels=6, nodes=1398)
DATASETS = GenerationEvent("datasets", objects=12, total=3000, requests=68, bytes_read=1_080_000)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines():
    assert progress_line(AHEAD) == "metadata: level 6, 1,398 nodes, 68 requests, 1.08 MB read"
    assert progress_line(DATASETS) == "datasets: 12 of 3,000 objects, 68 requests, 1.08 MB read"
    assert progress_line(GenerationEvent("attributes", 1, 1)) == "attributes: 1 of 1 object"


def test_a_terminal_shows_them_and_is_clean_afterwards():
    terminal = Terminal()
    with GenerationProgress(terminal) as progress:
        progress(AHEAD)
    shown = terminal.getvalue().split("\r")
    assert progress_line(AHEAD) in shown
    assert shown[-1] == ""
    assert shown[-2].strip() == ""


def test_nothing_is_shown_elsewhere():
    file = io.StringIO()
    with GenerationProgress(file) as progress:
        progress(AHEAD)
    assert file.getvalue() == ""


def test_what_it_took():
    progress = GenerationProgress(io.StringIO())
    assert progress.took() == ""
    progress(AHEAD)
    assert progress.took() == "took 68 requests, 1.08 MB read; 1,398 nodes of metadata in 6 rounds"
    progress(GenerationEvent("done", 5, 5))
    assert progress.took() == ""
