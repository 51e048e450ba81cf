"""The documentation site, built without network: ``make docs``."""

import sys
from functools import partialmethod
from pathlib import Path

from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = "shadowzarr"
author = "the shadowzarr authors"
copyright = author  # noqa: A001 - the name that Sphinx reads
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_nb",
    "shadowzarr_site",
]
exclude_patterns = ["_ext", "_build"]

html_theme = "furo"
html_title = "shadowzarr"
html_copy_source = False
html_show_sphinx = False

autodoc_typehints = "none"  # the docstrings say types in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
# On a busy machine a kernel takes longer to start than nbclient's minute, for which MyST has no setting.
NotebookClient.__init__ = partialmethod(NotebookClient.__init__, startup_timeout=300)
# Words such as path are types in docstrings, and attributes of some classes.
suppress_warnings = ["config.cache", "ref.python"]
