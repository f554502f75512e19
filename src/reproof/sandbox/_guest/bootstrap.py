"""Start the supervisor: the script that the target's interpreter is given.

Started with `-s -S -B` and a clean environment, so no code of the target (site-packages, `.pth`
files, sitecustomize) takes part. Not `-I`: that would ignore PYTHONHASHSEED.
"""

import sys

# The interpreter puts this folder first, where `inspect.py` would stand in for the standard one.
del sys.path[0]
_stdlib = list(sys.path)
sys.path.append(sys.argv[1])

from _reproof_guest import supervisor  # type: ignore[import-not-found]  # noqa: E402

supervisor.main(int(sys.argv[2]), _stdlib)
