#!/usr/bin/env bash
# Resolve pyproject.toml into the three pinned files beside this one. Existing pins are kept unless
# the second argument is --upgrade. `run` and `bootstrap` are cut from what `dev` resolved to.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=$1
shift
compile() { "$uv" pip compile -q --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --no-emit-index-url "$@"; }

compile "$@" pyproject.toml --group dev -o requirements/dev.txt
compile -c requirements/dev.txt pyproject.toml --group build -o requirements/run.txt
echo uv | compile -c requirements/dev.txt - -o requirements/bootstrap.txt
