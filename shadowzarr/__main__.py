"""``python -m shadowzarr``: the same as the command ``shadowzarr``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
