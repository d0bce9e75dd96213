#!/usr/bin/env bash
# Finds a Python that is new enough and becomes it, so that a signal to this step is one to dpsync.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
  if python="$(command -v "$name")" && "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    exec "$python" -I -X utf8 "$here/main.py"
  fi
done
echo "::error title=dpsync::dpsync needs Python 3.11 or newer on the runner; actions/setup-python installs it"
printf 'outcome=failed\nexit-code=1\nhas-changes=false\nfailure-reason=runner\n' >>"${GITHUB_OUTPUT:-/dev/null}"
exit 1
