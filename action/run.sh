#!/usr/bin/env bash
# Finds a Python that is new enough and becomes it, so that a signal to this step is one to dpsync. It is read by
# the shell of the step, whose standard input has the inputs of the action.
#
# No program that is started here, nor Python itself, has a variable of the step in its environment: any program
# of this user can read that in /proc, as long as the process lives, whatever the process then does about it. The
# variables go to Python by descriptor 3, the inputs by its standard input.
set -euo pipefail
here="$(cd "${BASH_SOURCE[0]%/*}" && pwd)"
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

# Where the interpreter itself is, if a program by this name is one: a shim would look into the working copy.
interpreter() {
  (
    trap - INT TERM
    cd /
    exec -c /usr/bin/env PATH="$PATH" HOME="${HOME:-/}" "$1" -I -c \
      'import sys; sys.version_info < (3, 11) or print(sys.executable)' </dev/null 3<&- 2>/dev/null
  ) || true
}

# The variables, one to a line: a newline is \n, a backslash \\.
variables=
for name in $(compgen -e); do
  value="${!name}"
  value="${value//\\/\\\\}"
  variables+="$name=${value//$'\n'/\\n}"$'\n'
done

usable() {
  [[ $1 == /* && $1 != "${GITHUB_WORKSPACE:-/nowhere}"/* ]] # a change could have brought any other
}
for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
  while IFS= read -r -u 4 found; do
    if usable "$found" && python="$(interpreter "$found")" && usable "$python"; then
      exec -c "$python" -I -X utf8 "$here/main.py" 3<<<"$variables" 4<&-
    fi
  done 4<<<"$(type -aP "$name")"
done
echo "::error title=dpsync::dpsync needs Python 3.11 or newer on the runner; actions/setup-python installs it"
outputs 1 runner
exit 1
