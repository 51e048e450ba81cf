# A worker of Prefect with shadowzarr and the flows. Dependencies are in a layer of their own, pinned by
# constraints.txt; the code comes last. How it is run: docs/deployment.md.
FROM python:3.13-slim

LABEL org.opencontainers.image.title="shadowzarr" \
      org.opencontainers.image.licenses="BSD-3-Clause"

# An init that passes signals on and reaps what is killed; uv, which knows the overrides of pyproject.toml.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir "uv>=0.9,<1" \
    && useradd --create-home --uid 10001 shadowzarr

WORKDIR /opt/shadowzarr
ENV PATH=/opt/shadowzarr/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    UV_COMPILE_BYTECODE=1 \
    DO_NOT_TRACK=1 \
    PREFECT_HOME=/home/shadowzarr/.prefect

# What the package is built from is a stub here, so that a change of code installs no dependency anew.
ARG EXTRAS=hdf5,tiff,neo,nwb,parquet,virtualizarr,icechunk,s3,pipeline,dask,redis
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN mkdir shadowzarr \
    && touch shadowzarr/__init__.py \
    && uv venv --python /usr/local/bin/python .venv \
    && uv pip install --no-cache --python .venv/bin/python --constraints constraints.txt --editable ".[$EXTRAS]"

COPY shadowzarr shadowzarr
COPY tasks tasks
COPY flows flows
COPY configs configs
# The user cannot write beside the code: every run would compile it, for some seconds.
RUN .venv/bin/python -m compileall -q shadowzarr tasks flows

USER 10001

# A worker serves its state when it is started with --with-healthcheck, at this port.
ENV PREFECT_WORKER_WEBSERVER_HOST=127.0.0.1 \
    PREFECT_WORKER_WEBSERVER_PORT=8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=90s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=5)"]

ENTRYPOINT ["tini", "--"]
CMD ["prefect", "worker", "start", "--pool", "shadowzarr", "--type", "process", "--with-healthcheck"]
