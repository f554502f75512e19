"""The world a replay runs in: the source tree and its revisions, the interpreter, pytest for it."""
