#!/usr/bin/env bash
# Finds a Python that is new enough and becomes it, so that a signal to this step is one to dpsync.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
outputs() {
  printf 'outcome=failed\nexit-code=%s\nhas-changes=false\nfailure-reason=%s\n' "$@" >>"${GITHUB_OUTPUT:-/dev/null}"
}
outputs 137 interrupted # if nothing else is written any more, this holds
stop() {
  trap '' INT TERM
  outputs "$1" interrupted
  exit "$1"
}
trap 'stop 130' INT # else bash goes on when the program that it waits for has ended well
trap 'stop 143' TERM
for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
  if python="$(command -v "$name")" && "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    exec "$python" -I -X utf8 "$here/main.py"
  fi
done
echo "::error title=dpsync::dpsync needs Python 3.11 or newer on the runner; actions/setup-python installs it"
outputs 1 runner
exit 1
