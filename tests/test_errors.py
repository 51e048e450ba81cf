"""The tree of errors: as it is drawn, whole, and able to travel between processes."""

import ast
import copy
import inspect
import pickle
import re
from pathlib import Path

import pytest

from shadowzarr import errors
from shadowzarr.catalog.records import VerificationSummary

PACKAGE = Path(errors.__file__).parent
CLASSES = [
    cls
    for _, cls in inspect.getmembers(errors, inspect.isclass)
    if issubclass(cls, errors.ShadowzarrError) and cls.__module__ == errors.__name__
]


def drawn() -> dict[str, str | None]:
    """Each class of the drawing with the one that it hangs on."""
    parents: dict[str, str | None] = {}
    above: list[str] = []
    for line in errors.__doc__.splitlines():
        match = re.match(r"    ([│├└─ ]*)(\w+Error)\b", line)
        if match:
            depth = len(match[1]) // 4
            above[depth:] = [match[2]]
            parents[match[2]] = above[depth - 1] if depth else None
    return parents


def test_the_drawing_is_the_tree() -> None:
    parents = {cls.__name__: next(b for b in cls.__bases__ if issubclass(b, Exception)) for cls in CLASSES}
    own = {cls.__name__ for cls in CLASSES}
    assert drawn() == {
        name: base.__name__ if base.__name__ in own else None for name, base in parents.items()
    }


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_says_the_same_in_another_process(cls: type) -> None:
    differ = VerificationSummary("full", differences=["/a: 1 is not 2"], difference_count=3)
    error = cls(differ if cls is errors.ReferencesDifferError else "what was found")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.__dict__) == (cls, str(error), error.__dict__)


def test_the_catalogue_has_no_errors_of_its_own() -> None:
    own = {cls.__name__ for cls in CLASSES}
    found = [
        f"{path.name}: {node.name}"
        for path in (PACKAGE / "catalog").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and (node.name.endswith("Error") or node.name in own)
    ]
    assert found == []


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_is_copied_where_dask_has_changed_how(cls: type) -> None:
    """tblib, which Dask installs, makes an exception by its class's own ``__new__``."""
    from tblib import pickling_support

    pickling_support.install()
    differ = VerificationSummary("full", differences=["/a: 1 is not 2"], difference_count=3)
    error = cls(differ if cls is errors.ReferencesDifferError else "what was found")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (type(again), str(again)) == (cls, str(error))
