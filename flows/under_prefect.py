"""A flow that is called while Prefect's API is there, and what its failures mean to a person."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from shadowzarr.errors import UsageError


@contextlib.contextmanager
def under_prefect(on_lost: Callable[[str], None]) -> Iterator[bool]:
    """Start Prefect, and say so, for it takes its time; gives whether its server is a temporary one.

    Parameters
    ----------
    on_lost : callable
        Called, from a thread, with a sentence when the API is gone before its time.
    """
    from .prefect_settings import prepare, starting

    print(starting(), file=sys.stderr, flush=True)
    prepare()
    from .prefect_api import prefect_api

    with prefect_api(on_lost) as is_temporary:
        yield is_temporary


@contextlib.contextmanager
def api_errors() -> Iterator[None]:
    """Call a flow inside.

    Raises
    ------
    UsageError
        In place of what Prefect raises when its server does not answer or refuses.
    """
    import httpx
    from prefect.exceptions import PrefectHTTPStatusError

    hint = "check PREFECT_API_URL and the server there, or unset it to run without; run again to go on"
    try:
        yield
    except PrefectHTTPStatusError as error:
        status = error.response.status_code
        raise UsageError(f"Prefect's server refused a request ({status}); {hint}") from error
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise UsageError(f"Prefect's server does not answer ({reason}); {hint}") from error
    except RuntimeError as error:
        if "API" not in str(error):
            raise
        raise UsageError(f"Prefect: {error}; {hint}") from error
