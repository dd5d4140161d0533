"""The program: where it is, and how it is started with an oracle of this process."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from typing import IO, NamedTuple, Optional

from .oracle import Oracle, serve_on

ORACLE_TEST = ("data", "test")
"""The command that checks an oracle."""

_RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_relay.py")


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


def run(arguments: Sequence[str], codes: Sequence[int] = (0,)) -> Output:
    """Runs the program to its end."""
    return _checked(_attended(list(arguments), None, None), codes)


def run_with(oracle: Oracle, before: Sequence[str], after: Sequence[str], options: str, codes: Sequence[int]) -> Output:
    """Runs the program with the oracle of this process as its data set, which stands between the arguments."""
    ours, theirs = socket.socketpair()
    with ours:
        words = [f"{sys.executable},programs=1{options}", "-I", "-S", _RELAY, str(theirs.fileno())]
        name = "oracle:" + " ".join(shlex.quote(word) for word in words)
        output = _attended([*before, name, *after], oracle, (ours, theirs))
    # Messages are about the caller's oracle, not about who passed it on.
    clear = output._replace(err=output.err.replace(_RELAY, type(oracle).__name__))
    return _checked(clear, codes)


def _attended(arguments: list[str], oracle: Optional[Oracle], sockets: Optional[tuple[socket.socket, socket.socket]]) -> Output:
    """Starts the program, answers its questions, and ends it with whatever ends this."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        passed = () if sockets is None else (sockets[1].fileno(),)
        # In a session of its own: Ctrl-C is for this process, which then ends the program.
        process = subprocess.Popen(
            [program(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
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
            serve_on(oracle, source, handles[1])
        except BrokenPipeError:
            # The program has ended; its message says why.
            pass
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


def _checked(output: Output, codes: Sequence[int]) -> Output:
    if output.code in codes:
        return output
    lines = [line for line in output.err.splitlines() if line.strip()]
    said = [at for at, line in enumerate(lines) if line.startswith("error: ")]
    message = "\n".join(lines[said[-1] :])[len("error: ") :] if said else "\n".join(lines[-5:])
    raise ProgramError(message or f"ssvm-bench ended with exit code {output.code} and without a message")
