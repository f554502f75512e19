"""The walls behind which everything runs that this product did not write.

Start at `interface` (what a session is), then `select` (which wall), `bubblewrap` (the default one)
and `session` (what happens in a run). `measure` decides what may be said about a wall; `_guest` is
what runs inside. Not here: what to run, and what a run means.
"""
