#!/usr/bin/env bash
# The crash corpus, judged without trusting the product, where it lies beside the checkout; arguments
# go to its `score` (default: the small applications, then a sample of the real crashes). Elsewhere
# the shipped crash alone is run, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=../shared/corpus/corpus.py

if [[ ! -f $corpus ]]; then
  echo "bench: no corpus beside this checkout ($corpus); running the shipped crash only" >&2
  exec reproof demo --json
fi
if (($#)); then
  exec python3 "$corpus" score "$@"
fi
status=0
python3 "$corpus" score kinds || status=$?
python3 "$corpus" score real --sample 12 || status=$?
exit "$status"
