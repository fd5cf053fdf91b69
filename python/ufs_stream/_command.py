"""Runs the ufs-stream command: its flags, progress, warnings and errors."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, Union

from ._errors import BY_EXIT_CODE, CommandNotFoundError, InternalError, UFSError, UFSWarning
from ._selection import Selection

COMMAND = "ufs-stream"

Path = Union[str, "os.PathLike[str]"]
Inputs = Union[Path, Sequence[Path], Any]  # Any: a DataFrame of pandas, or a table that offers one or a stream of Arrow
Progress = Union[bool, Callable[[dict[str, Any]], object], None]


def find_command(command: Path | None = None) -> str:
    """Return the path of the command.

    It is `command`, else $UFS_STREAM, else the program that was installed with this package, else the one in PATH.
    The working folder is not searched.
    """
    wanted = command or os.environ.get("UFS_STREAM")
    if wanted is None:
        found = _installed_command() or _command_in_path(COMMAND)
    else:
        wanted = os.fspath(wanted)
        found = shutil.which(wanted) if os.path.dirname(wanted) else _command_in_path(wanted)
    if found is None:
        raise CommandNotFoundError(
            f"the command {wanted or COMMAND!r} is not there: install a wheel of this package (pip install "
            "--only-binary=:all: ufs-stream); where none fits your system, install the command (go install "
            "github.com/ufs-stream/ufs-stream/cmd/ufs-stream@latest) and put it into PATH, or name it in UFS_STREAM"
        )
    return found


def _installed_command() -> str | None:
    """Return the program that pip installed from the wheel of this package, or None."""
    try:
        distribution = importlib.metadata.distribution(COMMAND)
    except importlib.metadata.PackageNotFoundError:
        return None
    site = str(distribution.locate_file(""))
    package = os.path.join(site, "ufs_stream", "_command.py")
    if not os.path.exists(package) or not os.path.samefile(package, __file__):
        return None  # another copy of this package is installed
    for file in distribution.files or []:
        if file.name in (COMMAND, COMMAND + ".exe"):
            # pip install --target moves the program, and leaves its record as it was.
            for path in (str(file.locate()), os.path.join(site, "bin", file.name)):
                found = shutil.which(os.path.abspath(path))
                if found:
                    return found
    return None


def _command_in_path(name: str) -> str | None:
    ending = ".exe" if os.name == "nt" and not name.endswith(".exe") else ""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder):  # others are in the working folder
            found = shutil.which(os.path.join(folder, name + ending))
            if found:
                return found
    return None


def flags_of(options: Mapping[str, Any]) -> list[str]:
    """Turn keyword arguments into flags: `memory_limit="4GiB"` is --memory-limit=4GiB.

    True gives the flag alone and False its opposite, a list is joined by commas (as the CSV
    record that the command reads), a dict is JSON, and None leaves the flag out. `k` is -k.
    """
    flags = []
    for name, value in options.items():
        flag = "-k" if name == "k" else "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            flags.append(f"{flag}={str(value).lower()}")
            continue
        if isinstance(value, dict):
            value = json.dumps(value)
        if isinstance(value, (list, tuple)):
            value = ",".join(_csv_field(str(v)) for v in value)
        flags += [flag, str(value)] if flag == "-k" else [f"{flag}={value}"]
    return flags


def _csv_field(text: str) -> str:
    if any(c in text for c in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def inputs_of(inputs: Inputs) -> list[str]:
    """Return one path or several as a list of arguments."""
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    return [os.fspath(path) for path in inputs]


def run(arguments: Sequence[object], *, command: Path | None = None, progress: Progress = None) -> str:
    """Run the command with a list of arguments and return what it wrote to standard output.

    `progress` is called with a dict for each line of ``--progress json`` (pass, rows,
    rows_total, eta_s, …); True writes a line to sys.stderr. A failed run raises a
    :class:`UFSError` of the kind of its exit code. An interrupt (Ctrl-C) is passed on to the
    command, which saves its checkpoint where it has one, and is raised again.
    """
    how = ["--progress=json"] if progress else ["--quiet"]  # which would say nothing of it
    process = subprocess.Popen(
        [find_command(command), *how, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        # Ctrl-C reaches the command through us alone, once: a second one would end it at once.
        start_new_session=os.name == "posix",
    )
    assert process.stdout is not None and process.stderr is not None  # for the checker of types: both are pipes
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(process.stderr, said, _shown(progress)))
    listener.start()
    try:
        out = process.stdout.read()
        code = process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        try:
            process.wait()
        except BaseException:  # interrupted again: it shall not wait for the checkpoint
            process.kill()
            process.wait()
        raise
    finally:
        listener.join()
        process.stdout.close()
        process.stderr.close()
    if code != 0:
        raise _error(code, said, out)
    return out


def _listen(lines: IO[str], said: list[str], show: Callable[[dict[str, Any]], object] | None) -> None:
    """Hand progress to show, and keep all else that is said."""
    for line in lines:
        if show and line.startswith("{"):
            try:
                event = json.loads(line)
            except ValueError:
                said.append(line)
                continue
            show(event)
        else:
            said.append(line)


def _shown(progress: Progress) -> Callable[[dict[str, Any]], object] | None:
    if not progress:
        return None
    if callable(progress):
        return progress

    def show(event: dict[str, Any]) -> None:
        of = f" of {event['rows_total']:,}" if event["rows_total"] > 0 else ""
        end = "\n" if event["event"] == "pass" else "\r"
        sys.stderr.write(f"pass {event['pass']}  {event['what']}  {event['rows']:,}{of} rows{end}")
        sys.stderr.flush()

    return show


def _error(code: int, said: list[str], out: str) -> UFSError:
    """Make the exception of an exit code, with the words of the command."""
    text = "".join(said).strip()
    prefix = COMMAND + ": "
    at = text.rfind("\n" + prefix)
    message = text[at + 1 :] if at >= 0 else text
    message = message[len(prefix) :] if message.startswith(prefix) else message
    if code < 0:
        return InternalError(message or f"the command was ended by signal {-code}", code)
    kind = BY_EXIT_CODE.get(code, UFSError)
    selection = None
    if code == 5:
        try:
            selection = json.loads(out)
        except ValueError:
            pass
    return kind(message or f"the command ended with exit code {code}", code, selection)


def select(
    inputs: Inputs | None = None, *, command: Path | None = None, progress: Progress = None, **options: Any
) -> Selection:
    """Select features and return the Selection, the dict of ``select --format json``.

    `inputs` is a path, glob, folder or URL, or a list of them, or a DataFrame of pandas or another table with
    `__arrow_c_stream__`, which is read like a file: texts, dates and categories are no features unless `options` say so. It is None with ``stats="all.ufs"``.
    `options` are the flags of select with underscores: ``k=20, method="greedy",
    memory_limit="4GiB", where="day >= '2026-01-01'"``. What the command warns of is issued as
    :class:`UFSWarning`, and so is what it fills by the mean without being asked to (``missing``).
    """
    selection = Selection(_result("select", inputs, command, progress, options))
    _warn_of(selection)
    if selection.get("filled") and options.get("missing") is None:
        refused = "" if options.get("stats") else '; missing="error" refuses them'
        warnings.warn(selection["filled"] + refused, UFSWarning, stacklevel=2)
    return selection


def plan(
    inputs: Inputs | None = None, *, command: Path | None = None, progress: Progress = None, **options: Any
) -> dict[str, Any]:
    """Return what :func:`select` with the same `options` would do: passes, bytes, memory, the smallest limit.

    Only footers are read.
    """
    return _result("plan", inputs, command, progress, options)


def write_plan(
    inputs: Inputs, output: Path, *, command: Path | None = None, progress: Progress = None, **options: Any
) -> None:
    """Write a plan file, `output` as job.plan.json, which fixes the files to read and whose shards :func:`scan` takes."""
    _write("plan", inputs, output, command, progress, options)


def explain(
    columns: str | Sequence[str],
    selection: Mapping[str, Any] | Path,
    inputs: Inputs | None = None,
    *,
    command: Path | None = None,
    progress: Progress = None,
    **options: Any,
) -> dict[str, Any]:
    """Return why `columns` were chosen or not, and how they relate to the others.

    `selection` is the result of :func:`select`, or the path of its JSON. With the data (`inputs`, or ``stats``) the
    answer has weights, correlations and exact combinations too.
    """
    columns = [columns] if isinstance(columns, str) else list(columns)
    with _file_of(selection) as path, _paths(inputs, options.get("temp_dir")) as paths:
        flags = flags_of({"selection": path, **options})
        out = run(["explain", "--format=json", *flags, "--", *columns, *paths], command=command, progress=progress)
    explanation: dict[str, Any] = json.loads(out)
    _warn_of(explanation)
    return explanation


def redundancy(
    inputs: Inputs | None = None, *, command: Path | None = None, progress: Progress = None, **options: Any
) -> dict[str, Any]:
    """Return the clusters of columns that are alike, with duplicates and exact combinations."""
    return _result("redundancy", inputs, command, progress, options)


def scan(
    inputs: Inputs | None, output: Path, *, command: Path | None = None, progress: Progress = None, **options: Any
) -> None:
    """Gather the statistics of `inputs`, or of a shard of ``plan="job.plan.json"``, into the file `output`.

    ``select(stats=output)`` selects from it, and :func:`merge` adds such files.
    """
    _write("scan", inputs, output, command, progress, options)


def merge(
    files: Inputs, output: Path, *, command: Path | None = None, progress: Progress = None, **options: Any
) -> None:
    """Add the statistics of `files`, or of a folder of parts, into the file `output`."""
    _write("merge", files, output, command, progress, options)


def report(
    selection: Mapping[str, Any] | Path, output: Path, *, command: Path | None = None, **options: Any
) -> None:
    """Write a selection, the result of :func:`select` or the path of its JSON, as one HTML page."""
    with _file_of(selection) as path:
        _write("report", path, output, command, None, options)


def apply(
    inputs: Inputs | None,
    selection: Mapping[str, Any] | Path,
    output: Path,
    *,
    command: Path | None = None,
    progress: Progress = None,
    **options: Any,
) -> None:
    """Write the chosen columns of `inputs` to `output`, streamed by the command.

    `selection` is what :func:`select` returned, or the path of its JSON; `options` are the
    flags of apply, as ``also=["id"]``.
    """
    with _file_of(selection) as path:
        _write("apply", inputs, output, command, progress, {"selection": path, **options})


def _result(verb: str, inputs: Inputs | None, command: Path | None, progress: Progress, options: dict[str, Any]) -> dict[str, Any]:
    with _paths(inputs, options.get("temp_dir")) as paths:
        out = run([verb, "--format=json", *flags_of(options), "--", *paths], command=command, progress=progress)
    result: dict[str, Any] = json.loads(out)
    return result


def _write(verb: str, inputs: Inputs | None, output: Path, command: Path | None, progress: Progress, options: dict[str, Any]) -> None:
    with _paths(inputs, options.get("temp_dir")) as paths:
        run([verb, *flags_of(options), "--output", os.fspath(output), "--", *paths], command=command, progress=progress)


@contextlib.contextmanager
def _paths(inputs: Inputs | None, temp_dir: Path | None) -> Iterator[list[str]]:
    """Yield the paths of inputs. A DataFrame, or another table, is in a temporary file meanwhile."""
    if hasattr(inputs, "__arrow_c_stream__") and not is_frame(inputs):
        from ._arrow import file_of
        from ._capsule import columns_in

        with columns_in(inputs) as columns, file_of(columns, type(inputs).__name__, temp_dir) as path:
            yield [path]
        return
    offer = getattr(inputs, "to_pandas", None)
    if offer is not None:
        inputs = offer()
    if not is_frame(inputs):
        yield [] if inputs is None else inputs_of(inputs)
        return
    from ._arrow import file_of  # numpy and pandas take a while to import
    from ._frame import columns_of

    with file_of(columns_of(inputs), "DataFrame", temp_dir) as path:
        yield [path]


def is_frame(X: Any) -> bool:
    """Say whether X is a DataFrame of pandas."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _warn_of(result: Mapping[str, Any]) -> None:
    for text in result.get("warnings") or []:
        warnings.warn(text, UFSWarning, stacklevel=3)


@contextlib.contextmanager
def _file_of(selection: Mapping[str, Any] | Path) -> Iterator[str]:
    """Yield the path of a selection, which is written to a temporary file if it is none yet."""
    if not isinstance(selection, Mapping):
        yield os.fspath(selection)
        return
    with tempfile.TemporaryDirectory(prefix="ufs-stream-") as folder:
        path = os.path.join(folder, "selection.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(selection, f)
        yield path
