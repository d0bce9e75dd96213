# dpsync in a container: the wheel in dist/ with the versions and hashes of action/requirements.txt, and git for the
# git base. It runs as a user without rights. To pin the base image, too, name it by its digest:
#   docker build --build-arg BASE=python:3.13-slim@sha256:… --tag dpsync .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" --env DPSYNC_URL --env DPSYNC_TOKEN dpsync plan
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
COPY action/requirements.txt dist/*.whl /build/
RUN python -m venv /opt/dpsync \
 && /opt/dpsync/bin/python -m pip install --no-cache-dir --only-binary :all: --require-hashes --requirement /build/requirements.txt \
 && /opt/dpsync/bin/python -m pip install --no-cache-dir --no-deps --no-index /build/*.whl

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home dpsync
COPY --from=build /opt/dpsync /opt/dpsync
ENV PATH=/opt/dpsync/bin:$PATH XDG_STATE_HOME=/tmp/dpsync PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["dpsync"]
CMD ["--help"]
