"""The program: where it is, and how it is started with an oracle of this process."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple, Optional

from .oracle import Oracle, serve_on

ORACLE_TEST = ("data", "test")
"""The command that checks an oracle."""

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_RELAY = os.path.join(_FOLDER, "_relay.py")
_START = os.path.join(_FOLDER, "_start.py")


_OPTION = re.compile("'--([a-z-]+)(?: <[^>]*>)?'")
"""An option in a message of the command line."""
_TEST = re.compile("`[^` ]+ data test`")


class ProgramError(RuntimeError):
    """The program failed; the message is its own."""


class Output(NamedTuple):
    """What the program printed, and its exit code."""

    code: int
    out: str
    err: str


def program() -> str:
    """Path of ssvm-bench: $SSVM_BENCH, beside this Python, or on the path."""
    given = os.environ.get("SSVM_BENCH")
    if given:
        if shutil.which(given) is None:
            raise ProgramError(f"$SSVM_BENCH is '{given}', which is no program; set it to the path of ssvm-bench, or unset it")
        return given
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    for folder in filter(None, folders):
        path = os.path.join(folder, "ssvm-bench")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("ssvm-bench")
    if found is None:
        raise ProgramError("the program ssvm-bench was not found; pip install it, or set SSVM_BENCH to its path")
    return found


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """A temporary folder; removes those that killed processes have left, whose locks have ended with them."""
    prefix, parent = "ssvm-bench-py-", tempfile.gettempdir()
    for name in os.listdir(parent):
        path = os.path.join(parent, name)
        # A folder that is new may not have its lock yet.
        if name.startswith(prefix) and time.time() - os.stat(path).st_mtime > 60.0:
            with contextlib.suppress(OSError), _locked(path):
                shutil.rmtree(path, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix) as path, _locked(path):
        yield path


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def run(arguments: Sequence[str], codes: Sequence[int] = (0,)) -> Output:
    """Runs the program and returns its output."""
    # Without an oracle no pipe ends with this process.
    start = [sys.executable, "-I", "-S", _START, str(os.getpid())]
    return _checked(_attended([*start, program(), *arguments], None, None), codes)


def run_with(oracle: Oracle, before: Sequence[str], after: Sequence[str], options: str, codes: Sequence[int]) -> Output:
    """Runs the program with the oracle of this process as its data set, which stands between the arguments."""
    ours, theirs = socket.socketpair()
    with ours:
        words = [f"{sys.executable},programs=1{options}", "-I", "-S", _RELAY, str(theirs.fileno())]
        name = "oracle:" + " ".join(shlex.quote(word) for word in words)
        output = _attended([program(), *before, name, *after], oracle, (ours, theirs))
    # Messages name the caller's oracle and not the relay, which has no standard error of its own.
    err = output.err.replace(_RELAY, type(oracle).__name__).replace("; nothing on standard error", "")
    return _checked(output._replace(err=err.replace("(,limit= and ,start= set the limit)", "(limit= sets it)")), codes)


def _attended(command: list[str], oracle: Optional[Oracle], sockets: Optional[tuple[socket.socket, socket.socket]]) -> Output:
    """Starts the program and answers its requests. Ends the program whenever this call ends, whatever the reason."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        passed = () if sockets is None else (sockets[1].fileno(),)
        # The program has a session of its own, so that Ctrl-C reaches only this process, which then ends the program.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            # Messages become texts of exceptions, which are not wrapped.
            env={**os.environ, "COLUMNS": "10000"},
            pass_fds=passed,
            start_new_session=True,
        )
        try:
            if oracle is not None and sockets is not None:
                _serve(oracle, *sockets)
            process.wait()
        except BaseException:
            _end(process)
            raise
        return Output(process.returncode, _text(out), _text(err))


def _serve(oracle: Oracle, ours: socket.socket, theirs: socket.socket) -> None:
    theirs.close()
    _, handles, _, _ = socket.recv_fds(ours, 1, 2)
    if len(handles) < 2:
        # The program ended before it asked: its message says why.
        return
    with os.fdopen(handles[0], "rb", 1 << 16) as source:
        try:
            # Returns when the program has ended; its message says why.
            serve_on(oracle, source, handles[1])
        finally:
            os.close(handles[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.send_signal(signal.SIGTERM)
        process.wait(2.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def results(text: str) -> list[dict[str, Any]]:
    """The lines of JSON that the program printed."""
    try:
        found = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        found = []
    if not found:
        raise ProgramError(f"'{program()}' printed no result: it is not ssvm-bench, or another version")
    return found


def _checked(output: Output, codes: Sequence[int]) -> Output:
    if output.code in codes:
        return output
    lines = [line for line in output.err.splitlines() if line.strip()]
    said = [at for at, line in enumerate(lines) if line.startswith("error: ")]
    message = "\n".join(_without_usage(lines[said[-1] :]))[len("error: ") :] if said else "\n".join(lines[-5:])
    raise ProgramError(message or f"ssvm-bench ended with exit code {output.code} and without a message")


def _without_usage(lines: list[str]) -> list[str]:
    """A message without the hints for a command line."""
    kept = [line for line in lines if not line.startswith(("Usage: ", "For more information, try"))]
    return [_TEST.sub("check_oracle", _OPTION.sub(_argument, line)) for line in kept]


def _argument(option: re.Match[str]) -> str:
    """The argument of solve() or check_oracle() for an option."""
    name = option[1].replace("-", "_")
    return "lambda_" if name == "lambda" else name
