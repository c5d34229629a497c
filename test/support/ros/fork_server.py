# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Starts processes of this package in milliseconds: forks of one that has imported it.

A new Python takes a second of processor time to import numba, rclpy and the package. The fork runs
a module as ``python -u -m module arguments`` does, with its own environment, folder and session.
Run as a program, this file is the server; it imports what nodes need, and starts no thread.

A fork ends without destroying what the server imported: that would copy all of it first, and take
half of the processor time of a test. What the fork itself made is destroyed as in any process.
Processes that are no forks show that a whole Python ends well (test_executables.py).
"""

import atexit
from collections.abc import Mapping, Sequence
from contextlib import suppress
import ctypes
import fcntl
from functools import cache, partial
import gc
from importlib import import_module
import inspect
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
    'rnea_ros.tools.activate_controller', 'rnea_ros.tools.check_trajectory',
    'rnea_ros.tools.excite', 'rnea_ros.tools.play_joint_states', 'rnea_ros.tools.preflight',
    'rnea_ros.tools.replay',
)
"""Modules that tests run as programs."""

MAX_REQUEST = 1 << 17
"""Bytes; most of a request is the environment."""


class ForkedProcess:
    """
    A fork of the server, with the interface of ``subprocess.Popen``.

    :param module: name of the module to run
    :param arguments: of its command line
    :param env: all environment variables
    :param cwd: working folder
    :param stdout: file descriptor for the standard output
    :param stderr: file descriptor for errors
    :param pass_fds: file descriptors that the process keeps open
    """

    def __init__(
        self, module: str, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path,
        stdout: int, stderr: int, pass_fds: Sequence[int] = (),
    ) -> None:
        self._status, status = os.pipe()
        request = {
            'module': module, 'arguments': list(arguments), 'env': dict(env), 'cwd': str(cwd)
        }
        descriptors = [status, stdout, stderr, *pass_fds]
        socket.send_fds(_server(), [json.dumps(request).encode()], descriptors)
        os.close(status)
        self.pid = self._read()
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """
        Return the exit code, negative for a signal.

        :param timeout: s
        :raises subprocess.TimeoutExpired: the process goes on
        """
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
        written = []
        for file in (stdout, stderr):
            file.seek(0)
            written.append(file.read().decode(errors='replace'))
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
    load_kernels()
    load_messages()
    # For its first log line rclpy searches all modules for the caller; the result is kept.
    inspect.getmodule(inspect.currentframe(), 'none')
    fork_tracing_too()
    # A fork then neither copies nor destroys what is there.
    gc.collect()
    gc.freeze()


def load_kernels() -> None:
    """Load, or compile, the kernels of a controlled arm: no test waits for the compiler then."""
    import numpy as np

    from rnea_ros import RobotModel
    from rnea_ros.feedforward import FeedforwardController
    from rnea_ros.feedforward.inputs import JointBounds, JointStateMonitor
    from rnea_ros.feedforward.settings import Settings, resolve

    model = RobotModel.from_urdf(ROOT / 'urdf/panda_arm.urdf')
    state = np.zeros((3, model.nv))
    settings = resolve(Settings(model.joint_names), model)
    with Path(__file__).open() as lock:  # the next server finds the kernels on disk
        fcntl.flock(lock, fcntl.LOCK_EX)
        model.inverse_dynamics(*state)
        model.gravity_torques(state[0])
        states = JointStateMonitor(
            model.joint_names, JointBounds.of_robot(model, settings),
        )
        FeedforwardController(model, settings, states)


def load_messages() -> None:
    """Load the libraries of the messages that most nodes use."""
    with suppress(ImportError):
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.type_support import check_for_type_support
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray, String
        from trajectory_msgs.msg import JointTrajectory

        for kind in (DiagnosticArray, Float64MultiArray, JointState, JointTrajectory, String):
            check_for_type_support(kind)


def fork_tracing_too() -> None:
    """
    Let LTTng, by which ROS traces, take part in each fork.

    Its threads do not survive a fork, and a fork that ends would crash while it stops them.
    """
    signals = ctypes.create_string_buffer(128)  # a sigset_t
    try:
        mapped = Path('/proc/self/maps').read_text(encoding='utf-8').split()
    except FileNotFoundError:  # /proc is not mounted
        return
    for path in {word for word in mapped if '/liblttng-ust' in word}:
        library = ctypes.CDLL(path)
        for name in ('ust', 'lttng_ust'):  # before 2.13, and from 2.13 on
            if hasattr(library, f'{name}_before_fork'):
                os.register_at_fork(
                    before=partial(library[f'{name}_before_fork'], signals),
                    after_in_parent=partial(library[f'{name}_after_fork_parent'], signals),
                    after_in_child=partial(library[f'{name}_after_fork_child'], signals),
                )


def serve(requests: socket.socket) -> Mapping[str, Any]:
    """
    Answer requests: return in each fork with its request, and never in the server.

    :param requests: socket; the server ends when its other end is closed
    """
    # The kernel reaps the forks' parents.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, MAX_REQUEST, 8)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            for number in (signal.SIGCHLD, signal.SIGHUP):  # SIGHUP: tests may run under nohup
                signal.signal(number, signal.SIG_DFL)
            requests.close()
            if (pid := os.fork()) == 0:
                return _prepared(json.loads(data), *descriptors)
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
    request: Mapping[str, Any], status: int, stdout: int, stderr: int, *kept: int
) -> Mapping[str, Any]:
    """Give this process the output, session, environment and folder of a request."""
    del kept
    os.setsid()
    for descriptor, number in ((stdout, 1), (stderr, 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request['env'])
    os.chdir(request['cwd'])
    paths = [path for path in os.environ.get('PYTHONPATH', '').split(os.pathsep) if path]
    sys.path[:1] = [request['cwd'], *(path for path in paths if path not in sys.path)]
    os.write(status, f'{os.getpid()}\n'.encode())
    os.close(status)
    return request


def run(module: str) -> int:
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
    """End this fork as Python does, but leave the server's modules as they are."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    # Libraries end as well, with the interpreter's lock held: they may have Python objects.
    ctypes.PyDLL(None).exit(code)
    raise AssertionError('exit returned')


if __name__ == '__main__':
    sys.path[0] = str(ROOT)
    preload()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = ['-m', *asked['arguments']]
    end(run(asked['module']))
