"""What a configuration says about metrics of a run, in the text format of Prometheus."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from .section import Section


class MetricsSection(Section):
    """Where numbers of a run are, for Prometheus, while it lasts: at a port, in a file, or both."""

    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None, description="Port at which they are served, at /metrics."
    )
    host: Annotated[str, StringConstraints(min_length=1)] = Field(
        default="127.0.0.1", description="Address that the port is of; 0.0.0.0 for all of this machine."
    )
    file: Annotated[str, StringConstraints(pattern=r".+\.prom$")] | None = Field(
        default=None,
        description="A file that they are written to, for node_exporter's collector of text files; its name "
        "ends in .prom.",
    )

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        """Refuse a section that says nowhere."""
        if self.port is None and self.file is None:
            raise ValueError("expected port or file, or both")
        return self
