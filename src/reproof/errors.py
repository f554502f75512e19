"""Everything this package raises on purpose.

    ReproofError
    ├── InputError            the caller gave something that cannot be used (path, option, literal)
    ├── NotAvailableError     what was asked for is part of the contract and not built yet
    ├── SettingsError         a setting is malformed or contradicts another
    ├── RepositoryError       the source tree or the requested revision cannot be read
    ├── InterpreterError      the target's Python environment cannot be used
    ├── OutputError           a result cannot be written where it was asked for
    └── SandboxError          the wall, not the code behind it, is at fault
        ├── SandboxUnavailableError   this machine does not offer the wall that was asked for
        └── SandboxBrokenError        a session was open and stopped answering

A *refusal* ("this crash was not reproduced, because ...") is an expected outcome and therefore a
value (`reproof.domain.refusal.Refusal`), never an exception.
"""

from __future__ import annotations


class ReproofError(Exception):
    """Root of the tree: a message, a stable `code`, and a `hint` that names the next step."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def diagnostics(self) -> str:
        """Return the message and, after a blank line, the hint."""
        return f"{self.message}\n\nhint: {self.hint}" if self.hint else self.message


class InputError(ReproofError):
    """An argument, file or literal from the caller cannot be used."""

    code = "bad_input"


class NotAvailableError(ReproofError):
    """An option of the documented interface that this version does not offer yet."""

    code = "not_available"


class SettingsError(ReproofError):
    """A setting from the environment or a configuration file is malformed."""

    code = "bad_setting"


class RepositoryError(ReproofError):
    """The source tree or the requested revision cannot be read."""

    code = "bad_repository"


class InterpreterError(ReproofError):
    """The target's Python environment cannot be found, is incomplete or is not supported."""

    code = "bad_environment"


class OutputError(ReproofError):
    """A result cannot be written: missing rights, full disk, or a file that is not ours."""

    code = "cannot_write"


class SandboxError(ReproofError):
    """The wall itself is at fault, not the code that ran behind it."""

    code = "sandbox"


class SandboxUnavailableError(SandboxError):
    """The wall that was asked for cannot be had on this machine; the hint says what would help."""

    code = "sandbox_unavailable"


class SandboxBrokenError(SandboxError):
    """An open session stopped answering; what it said before stands, nothing after does."""

    code = "sandbox_broken"
