"""Turn a fork of the bare supervisor into the target's interpreter, as if started that way.

Order on `sys.path`: the tree's import roots, the standard library, the target's site-packages and
what its `.pth` files add, and last the folder that pytest came from.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
import time
import types
from typing import Any

_PYTEST = frozenset(("pytest", "_pytest", "pluggy", "iniconfig"))
_kept_modules: list[Any] = []


def enter(tree: str, setup: dict[str, Any], environment: dict[str, str]) -> None:
    """Make `sys`, the environment and the imported modules those of the target."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.umask(0o022)
    os.chdir(tree)
    # Clearing a module that is still running would end its functions' globals: keep a reference.
    _kept_modules.append(sys.modules.get("__main__"))
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = ["pytest"]
    roots = [os.path.join(tree, root) if root else tree for root in setup["roots"]]
    _become_environment(setup)
    site_paths = [path for path in sys.path if path not in setup["stdlib"]]
    _forget_borrowed(setup["guest_site"], roots, site_paths)
    sys.path[:0] = roots
    sys.path += [setup["guest_site"], setup["guest_parent"]]


def _become_environment(setup: dict[str, Any]) -> None:
    """Do what start-up does without -S: find the environment, its packages and `.pth` files."""
    sys.executable = setup["executable"]
    sys.path[:] = setup["stdlib"]
    since_start_up = (3, 14)  # from here on, start-up itself sets the prefix, before `site`
    if sys.version_info >= since_start_up:
        sys.prefix = sys.exec_prefix = setup["prefix"]
    site = importlib.import_module("site")
    if sys.version_info >= since_start_up:
        site.PREFIXES[:] = [sys.prefix, sys.exec_prefix]
    site.main()


def _forget_borrowed(guest_site: str, roots: list[str], site_paths: list[str]) -> None:
    """Forget modules imported from our folder of which the target has its own.

    Pytest itself stays ours, so that no verdict depends on the target's; unless the tree *is* it.
    """
    prefix = guest_site + os.sep
    borrowed: set[str] = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if path.startswith(prefix):
            borrowed.add(name.partition(".")[0])
    find = importlib.machinery.PathFinder.find_spec
    forget = {name for name in borrowed - _PYTEST if find(name, roots + site_paths) is not None}
    if any(find(name, roots) is not None for name in _PYTEST):
        forget |= _PYTEST
        # The kinds hold on to the pytest they were imported with.
        forget.add("_reproof_guest")
    forgotten = [name for name in sys.modules if name.partition(".")[0] in forget]
    _kept_modules.extend(sys.modules.pop(name) for name in forgotten)
