"""Runs the ufs-stream command: its flags, progress, warnings and errors."""

import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings

from ._errors import BY_EXIT_CODE, CommandNotFoundError, InternalError, UFSError, UFSWarning

COMMAND = "ufs-stream"


def find_command(command=None):
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


def _installed_command():
    """Return the program that pip installed from the wheel of this package, or None."""
    try:
        distribution = importlib.metadata.distribution(COMMAND)
    except importlib.metadata.PackageNotFoundError:
        return None
    site = distribution.locate_file("")
    package = os.path.join(site, "ufs_stream", "_command.py")
    if not os.path.exists(package) or not os.path.samefile(package, __file__):
        return None  # another copy of this package is installed
    for file in distribution.files or []:
        if file.name in (COMMAND, COMMAND + ".exe"):
            # pip install --target moves the program, and leaves its record as it was.
            for path in (file.locate(), os.path.join(site, "bin", file.name)):
                found = shutil.which(os.path.abspath(path))
                if found:
                    return found
    return None


def _command_in_path(name):
    ending = ".exe" if os.name == "nt" and not name.endswith(".exe") else ""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder):  # others are in the working folder
            found = shutil.which(os.path.join(folder, name + ending))
            if found:
                return found
    return None


def flags_of(options):
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


def _csv_field(text):
    if any(c in text for c in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def inputs_of(inputs):
    """Return one path or several as a list of arguments."""
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    return [os.fspath(path) for path in inputs]


def run(arguments, *, command=None, progress=None):
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
        **({"start_new_session": True} if os.name == "posix" else {}),
    )
    said = []
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


def _listen(lines, said, show):
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


def _shown(progress):
    if callable(progress) or not progress:
        return progress

    def show(event):
        of = f" of {event['rows_total']:,}" if event["rows_total"] > 0 else ""
        end = "\n" if event["event"] == "pass" else "\r"
        sys.stderr.write(f"pass {event['pass']}  {event['what']}  {event['rows']:,}{of} rows{end}")
        sys.stderr.flush()

    return show


def _error(code, said, out):
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


def select(inputs=None, *, command=None, progress=None, **options):
    """Select features and return the Selection, the dict of ``select --format json``.

    `inputs` is a path, glob, folder or URL, or a list of them; None with ``stats="all.ufs"``.
    `options` are the flags of select with underscores: ``k=20, method="greedy",
    memory_limit="4GiB", where="day >= '2026-01-01'"``. What the command warns of is issued as
    :class:`UFSWarning`, and so is what it fills by the mean without being asked to (``missing``).
    """
    paths = [] if inputs is None else inputs_of(inputs)
    out = run(
        ["select", "--format=json", *flags_of(options), "--", *paths],
        command=command,
        progress=progress,
    )
    selection = json.loads(out)
    for text in selection["warnings"]:
        warnings.warn(text, UFSWarning, stacklevel=2)
    if selection.get("filled") and options.get("missing") is None:
        refused = "" if options.get("stats") else '; missing="error" refuses them'
        warnings.warn(selection["filled"] + refused, UFSWarning, stacklevel=2)
    return selection


def apply(inputs, selection, output, *, command=None, progress=None, **options):
    """Write the chosen columns of `inputs` to `output`, streamed by the command.

    `selection` is what :func:`select` returned, or the path of its JSON; `options` are the
    flags of apply, as ``also=["id"]``.
    """
    if isinstance(selection, dict):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="ufs-stream-") as folder:
            path = os.path.join(folder, "selection.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(selection, f)
            return apply(inputs, path, output, command=command, progress=progress, **options)
    flags = flags_of({"selection": os.fspath(selection), **options})
    run(
        ["apply", *flags, "--output", os.fspath(output), "--", *inputs_of(inputs)],
        command=command,
        progress=progress,
    )
