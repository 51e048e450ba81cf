"""What a configuration says about who is told how a run ended."""

from __future__ import annotations

import os
import re
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from .section import Section

_WEB = re.compile(r"https?://[^\s/?#]+\S*")


class NotifySection(Section):
    """Who is told how a run ended; failing to tell never fails the run."""

    on: Literal["failure", "always"] = Field(
        default="failure",
        description="failure: when the exit code is 1, or the run is stopped or crashes; always: after "
        "each run.",
    )
    webhook_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = Field(
        default=None,
        description="Name of the environment variable that holds the URL of a webhook, which gets a JSON "
        "object by POST. Such URLs are secrets.",
    )
    webhook: SecretStr | None = Field(
        default=None,
        description="The URL itself, where it is no secret; it is shown nowhere, but stands in the "
        "configuration.",
    )
    block: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")] | None = Field(
        default=None, description="A notification block of Prefect, such as slack-webhook/ops."
    )

    @property
    def url(self) -> str:
        """URL of the webhook, wherever it stands; empty when there is none."""
        if self.webhook is not None:
            return self.webhook.get_secret_value()
        return os.environ.get(self.webhook_env, "").strip() if self.webhook_env is not None else ""

    @property
    def problem(self) -> str:
        """What is wrong with the webhook that is named, without the URL; empty when nothing is."""
        if self.webhook_env is not None and not self.url:
            return f"the variable {self.webhook_env} that notify.webhook_env names is not set"
        if self.url and not _WEB.fullmatch(self.url):
            return f"what {self.webhook_env} holds is no http(s) URL"
        return ""

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        """Refuse a section that names nobody, one that names two webhooks, and what is no URL."""
        if self.webhook is None and self.webhook_env is None and self.block is None:
            raise ValueError("expected webhook_env, webhook or block")
        if self.webhook is not None and self.webhook_env is not None:
            raise ValueError("expected webhook_env or webhook, not both")
        if self.webhook is not None and not _WEB.fullmatch(self.webhook.get_secret_value()):
            raise ValueError("expected webhook to be an http(s) URL")
        return self


Notify = Annotated[
    NotifySection | None, Field(description="Who is told how a run ended; nobody when left out.")
]
"""What a configuration has as its ``notify``."""
