"""What the exit status of every command means; part of the public contract."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Stable: scripts branch on these."""

    REPRODUCED = 0
    """The crash was reproduced; for other commands, the command did its work."""
    NOT_REPRODUCED = 1
    """A reasoned refusal: nothing is broken, and the answer is no."""
    ERROR = 2
    """No answer: bad input, no sandbox, no environment, or a fault of ours."""
    INTERRUPTED = 130
    """Stopped by the user."""

    @classmethod
    def of_status(cls, status: str) -> ExitCode:
        """Return the code for a verdict's `status`; an unknown one is an error, never a success."""
        known = {"reproduced": cls.REPRODUCED, "not_reproduced": cls.NOT_REPRODUCED}
        return known.get(status, cls.ERROR)
