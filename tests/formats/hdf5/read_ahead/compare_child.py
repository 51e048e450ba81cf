"""Generate each remote file named in the arguments with and without reading ahead; print what differs.

Runs in a process of its own, since a damaged file may crash HDF5. One line of JSON before each file and one
after it.
"""

import gc
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from shadowzarr.errors import ShadowzarrError
from shadowzarr.formats.hdf5 import opening
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.opening import RemoteReading
from shadowzarr.testing import RangeServer


def outcome(url: str, *, is_ahead: bool) -> dict:
    opening.REMOTE = RemoteReading(512, 512, 512, is_ahead)
    events = []
    try:
        rfs = generate_rfs(url, progress=events.append)
    except ShadowzarrError as error:
        return {"error": f"{type(error).__name__}: {error}", "requests": 0}
    indexes = {
        path: {**entry, "index": np.asarray(entry["index"]).tolist()}
        for path, entry in rfs.get("indexes", {}).items()
    }
    return {"rfs": {**rfs, "indexes": indexes}, "requests": events[-1].requests}


def main() -> None:
    warnings.simplefilter("ignore")
    gc.disable()  # the server is a thread of this process, and h5py's lock must not be waited for there
    for name in sys.argv[1:]:
        path = Path(name)
        print(json.dumps({"file": name}), flush=True)
        with RangeServer(path.parent) as server:
            url = server.url(path.name)
            ahead, without = outcome(url, is_ahead=True), outcome(url, is_ahead=False)
        is_same = json.dumps(ahead.pop("rfs", None)) == json.dumps(without.pop("rfs", None))
        print(json.dumps({"same": is_same, "ahead": ahead, "without": without}), flush=True)


if __name__ == "__main__":
    main()
