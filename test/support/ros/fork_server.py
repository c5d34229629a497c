# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Starts processes of this package in milliseconds: forks of one that has imported it.

A new Python takes a second of processor time to import numba, rclpy and the package. The fork runs
a module as ``python -u -m module arguments`` does, with its own environment, folder and session.
Run as a program, this file is the server; it starts no thread.
"""

import atexit
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
import gc
from importlib import import_module
import json
import os
from pathlib import Path
import runpy
import select
import signal
import socket
import subprocess
import sys
from tempfile import TemporaryFile
import threading
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[3]

PRELOADED = (
    'rnea_ros.node.feedforward_node', 'rnea_ros.watchdog.effort_watchdog',
    'rnea_ros.trajectory_effort.trajectory_effort_node',
    'rnea_ros.teleoperation.teleoperation_node', 'rnea_ros.sim.simulated_robot',
    'rnea_ros.tools.excite', 'rnea_ros.tools.replay',
)
"""Modules that tests run as programs, or that import what those need."""

MAX_REQUEST = 1 << 17
"""Bytes; most of a request is the environment."""


class ForkedProcess:
    """A fork of the server that runs a module, with the interface of ``subprocess.Popen``."""

    def __init__(
        self, module: str, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path,
        stdout: int, stderr: int, pass_fds: Sequence[int] = (),
    ) -> None:
        self._status, status = os.pipe()
        request = json.dumps([module, list(arguments), dict(env), str(cwd)]).encode()
        socket.send_fds(_server(), [request], [status, stdout, stderr, *pass_fds])
        os.close(status)
        self.pid = self._read()
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal; TimeoutExpired if it goes on, s."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            self.returncode = self._read()
            os.close(self._status)
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        if self.returncode is None:
            os.kill(self.pid, number)

    def _read(self) -> int:
        line = b''
        while not line.endswith(b'\n'):
            byte = os.read(self._status, 1)
            assert byte, 'the fork server failed; its error is above'
            line += byte
        return int(line)


def run_forked(
    module: str, *arguments: str, env: Mapping[str, str], cwd: Path, timeout: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run a module to its end, and return its output; as ``subprocess.run`` does."""
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        process = ForkedProcess(
            module, arguments, env=env, cwd=cwd, stdout=stdout.fileno(), stderr=stderr.fileno()
        )
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        for file in (stdout, stderr):
            file.seek(0)
        written = [file.read().decode(errors='replace') for file in (stdout, stderr)]
    return subprocess.CompletedProcess([module, *arguments], code, *written)


@cache
def _server() -> socket.socket:
    """Start the server, one for this process; it ends with the process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_REQUEST)
    subprocess.Popen(
        [sys.executable, '-u', __file__, str(theirs.fileno())], cwd=ROOT, stdin=subprocess.DEVNULL,
        start_new_session=True, pass_fds=[theirs.fileno()],
    )
    theirs.close()
    return ours


# --- the server ----------------------------------------------------------------------------------


def preload() -> None:
    """Import what the programs need, but not the programs: each fork runs its own afresh."""
    for module in PRELOADED:
        with suppress(ImportError):  # ROS, MuJoCo, matplotlib may be missing
            import_module(module)
        sys.modules.pop(module, None)
    from support.control.control_rig import Rig, panda_arm

    Rig(panda_arm()).activate()  # loads, or compiles, the kernels of a controlled arm
    # A fork then neither copies nor destroys what is there.
    gc.collect()
    gc.freeze()


def serve(requests: socket.socket) -> tuple[str, list[str]]:
    """Answer requests: return in each fork its module and arguments, and never in the server."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the forks' parents
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, MAX_REQUEST, 8)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            for number in (signal.SIGCHLD, signal.SIGHUP):  # SIGHUP: tests may run under nohup
                signal.signal(number, signal.SIG_DFL)
            requests.close()
            if (pid := os.fork()) == 0:
                return _prepared(*json.loads(data), *descriptors)
            _report(pid, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _report(pid: int, descriptors: Sequence[int]) -> NoReturn:
    """Write the exit code of a fork to its status pipe."""
    status, *others = descriptors
    for descriptor in others:
        os.close(descriptor)
    _, ended = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(status, f'{os.waitstatus_to_exitcode(ended)}\n'.encode())
    os._exit(0)


def _prepared(
    module: str, arguments: list[str], env: dict[str, str], cwd: str, status: int, stdout: int,
    stderr: int, *_: int,
) -> tuple[str, list[str]]:
    """Give this process the output, session, environment and folder of a request."""
    os.setsid()
    for descriptor, number in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    paths = [path for path in env.get('PYTHONPATH', '').split(os.pathsep) if path]
    sys.path[:1] = [cwd, *(path for path in paths if path not in sys.path)]
    os.write(status, f'{os.getpid()}\n'.encode())
    os.close(status)
    return module, arguments


def run(module: str) -> Any:
    """Run a module as a program; return its exit code."""
    try:
        runpy.run_module(module, run_name='__main__', alter_sys=True)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    return 0


def end(code: int) -> NoReturn:
    """End this fork as Python does, but leave modules and libraries of the server as they are."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == '__main__':
    sys.path[:1] = [str(ROOT), str(ROOT / 'test')]
    preload()
    program, given = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = ['-m', *given]
    end(run(program))
