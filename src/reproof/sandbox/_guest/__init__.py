"""What runs inside the wall: plain files for CPython 3.8 to 3.14, standard library and pytest only.

The host shows this folder inside as the package `_reproof_guest`. Three processes use it:

    supervisor   one a session; the target's interpreter with pytest imported; runs no target code
    keeper       one a run; first process of the run's process tree; builds the run's file system
    worker       one a run; gives up every right for good and then runs one *kind*

A kind is a module here with `run(request) -> dict` (`replay`, `control`, `inspect`, `selfcheck`).
"""
