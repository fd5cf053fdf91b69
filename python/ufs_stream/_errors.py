"""The exit codes of the command as exceptions."""

from __future__ import annotations

from typing import Any


class UFSError(RuntimeError):
    """A run of the command failed.

    ``exit_code`` is the command's, None where it did not start; ``selection`` is the result of
    a run that wrote one all the same (exit code 5), else None.
    """

    def __init__(self, message: str, exit_code: int | None = None, selection: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.selection = selection

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.exit_code, self.selection)


class CommandNotFoundError(UFSError):
    """The ufs-stream command is not installed where it was looked for."""


class InternalError(UFSError):
    """Output cannot be written, or a fault of the command itself (exit code 1)."""


class UsageError(UFSError, ValueError):
    """The request cannot be right (exit code 2)."""


class DataError(UFSError, ValueError):
    """The data or their schema are bad, or the input cannot be read (exit code 3)."""


class MemoryLimitError(UFSError, MemoryError):
    """The memory or scratch limit is too small; the message says the smallest (exit code 4)."""


class NotConvergedError(UFSError):
    """An objective rose, or the iteration did not converge where that was required (exit code 5)."""


class TryAgainError(UFSError):
    """An object store or the network is busy or down; another try may help (exit code 75)."""


class UFSWarning(UserWarning):
    """A warning that the command has written into its result."""


BY_EXIT_CODE: dict[int, type[UFSError]] = {
    1: InternalError,
    2: UsageError,
    3: DataError,
    4: MemoryLimitError,
    5: NotConvergedError,
    75: TryAgainError,
}
