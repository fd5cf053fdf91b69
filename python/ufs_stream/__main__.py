"""Runs the ufs-stream command: ``python -m ufs_stream select data.parquet``."""

import os
import subprocess
import sys

from ._command import find_command
from ._errors import CommandNotFoundError


def main() -> None:
    try:
        command = [find_command(), *sys.argv[1:]]
    except CommandNotFoundError as e:
        sys.exit(str(e))
    if os.name == "posix":
        os.execv(command[0], command)
    sys.exit(subprocess.call(command))  # Windows cannot replace a process


if __name__ == "__main__":
    main()
