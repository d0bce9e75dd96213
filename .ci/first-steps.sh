#!/usr/bin/env bash
# The first steps with an installed dpsync, on any system: the companion, a project, a plan, an apply, no drift.
set -euo pipefail
folder="$(mktemp -d)"
cd "$folder"
dpsync --version
dpsync serve --port 8787 >served &
served=$!
trap 'kill "$served"' EXIT
for _ in $(seq 60); do
  if [ -s served ]; then break; fi
  sleep 1
done
DPSYNC_URL="$(tr -d '\r\n' <served)"
export DPSYNC_URL DPSYNC_TOKEN=ada-token
dpsync init --organization acme --empty
printf '    teams: { support: { title: "Support → Hilfe" } }\n' >>dpsync.yaml
dpsync fmt --check
dpsync validate
dpsync plan --detailed-exitcode || [ $? -eq 2 ]
dpsync apply --yes
dpsync drift
