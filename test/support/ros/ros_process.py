# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Processes and nodes on a DDS domain of their own, for tests through real ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
import ctypes
import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from benchmark.loop.processes import locked, sweep
from rnea_ros.shared_memory import LOCALHOST_ONLY, PROFILE, PROFILE_VARIABLES, RANGE, on_loopback
from support.models.robots import ROOT
from support.ros.fork_server import ForkedProcess

NO_ROS = 'rclpy (ROS 2, or pip install ros-rclpy[fastrtps]) is not installed'
PATIENCE = 60.0
"""How long a test waits for what must come, s: long, because machines stall."""

MAX_DOMAINS = 12
"""With so many, a run of tests uses a free one again: other runs need the rest."""

POLITENESS = 5.0
"""How long a process may take to end before it is killed, s."""

NEW_PYTHON = (sys.executable, '-u', '-m')
"""The program of a process that is no fork, as a user starts it."""

UDP_ON_LOOPBACK = ROOT / PROFILE
ON_LOOPBACK = on_loopback(os.environ)
WITH_PROFILE = {name: {RANGE: 'SYSTEM_DEFAULT', LOCALHOST_ONLY: '0'}[name] for name in ON_LOOPBACK}

_numbers = itertools.count(7 * os.getpid())
_locks: dict[int, int] = {}
"""File descriptor of each domain's lock, in the order of the domains' last use."""

_users: list[int] = []
"""Domain of each process and node of these tests; lists are changed by several threads."""


def new_domain_id() -> int:
    """Return a DDS domain, from 1 to 100, that no other process on this machine uses now."""
    free = [domain_id for domain_id in _locks if domain_id not in _users]
    if len(_locks) >= MAX_DOMAINS and free:
        _locks[free[0]] = _locks.pop(free[0])
        sweep(free[0])
        return free[0]
    for number in itertools.islice(_numbers, 100):
        domain_id = number % 100 + 1
        if domain_id not in _locks and (lock := locked(domain_id)) is not None:
            _locks[domain_id] = lock
            return domain_id
    raise AssertionError('other runs of tests use every DDS domain')


def wait_until(condition: Callable[[], Any], timeout: float = PATIENCE) -> bool:
    """Return whether a condition came true in time, s."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class RosProcess:
    """
    ``python -m module arguments`` in a process group of its own, ended with the ``with`` block.

    :param module: such as ``rnea_ros.sim.simulated_robot``; a fork finds the tests' own too
    :param program: what takes module and arguments; None for a fork of :mod:`fork_server`
    :param stdin: file descriptor of its input, for one that is no fork
    """

    def __init__(
        self, module: str, *arguments: str, domain_id: int, program: Sequence[str] | None = None,
        stdin: int | None = None,
    ) -> None:
        self._domain_id = domain_id
        self._lines: list[str] = []
        readable, writable = os.pipe()
        environment = os.environ | isolated(domain_id)
        # The child inherits the lock: if the tests are killed, no other run takes the domain of a
        # process that still runs.
        kept = [_locks[domain_id]] if domain_id in _locks else []
        self._process: ForkedProcess | subprocess.Popen[bytes]
        if program is None:
            paths = [str(ROOT / 'test'), *filter(None, [environment.get('PYTHONPATH')])]
            environment['PYTHONPATH'] = os.pathsep.join(paths)
            self._process = ForkedProcess(
                module, arguments, env=environment, cwd=ROOT, stdout=writable, stderr=writable,
                pass_fds=kept,
            )
        else:
            self._process = subprocess.Popen(
                [*program, module, *arguments], env=environment, cwd=ROOT, stdout=writable,
                stderr=writable, pass_fds=kept, start_new_session=True, stdin=stdin,
            )
        os.close(writable)
        self._stream = os.fdopen(readable, encoding='utf-8', errors='replace')
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> RosProcess:
        _users.append(self._domain_id)
        return self

    def __exit__(self, *_: object) -> None:
        # Asked first: DDS leaves its shared memory behind in a process that is killed.
        for number in (signal.SIGCONT, signal.SIGTERM):
            self._signal_group(number)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(POLITENESS)
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        self._reader.join(PATIENCE)
        _users.remove(self._domain_id)

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _read(self) -> None:
        with self._stream as stream:
            for line in stream:
                self._lines.append(line)

    @property
    def output(self) -> str:
        """What it has written until now, errors included."""
        return ''.join(self._lines)

    @property
    def pid(self) -> int:
        """Its process id, which is its group's too."""
        return self._process.pid

    def wait_for(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until it has written a text; fail the test where it ends or does not in time, s."""
        wait_until(lambda: text in self.output or not self._reader.is_alive(), timeout)
        if text not in self.output:
            pytest.fail(f'{text!r} was not written in {timeout} s, but:\n{self.output}')

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def interrupt(self) -> None:
        """Send it and what it started SIGINT, as Ctrl-C in a terminal does."""
        self._signal_group(signal.SIGINT)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Return its exit code once it has ended; fail the test where it does not in time, s."""
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f'the process did not end in {timeout} s; it wrote:\n{self.output}')
        self._reader.join(timeout)
        return code


@contextmanager
def ros_node(domain_id: int, name: str = 'test', **options: Any) -> Iterator[Any]:
    """Give a node of the test's own process, spun in a thread until the block ends."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.parameter import Parameter

    from support.message_info import pass_message_info

    pass_message_info()
    os.environ.update(isolated(domain_id))
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    # Without rosout: rcl keeps its publishers in one table for all contexts, and crashes over it.
    # Nor with the service of type descriptions, which only rclpy can destroy: see :func:`end`.
    # Humble has no such service; there the parameter would be an unknown one.
    has_service = importlib.util.find_spec('rclpy.type_description_service') is not None
    without = [Parameter('start_type_description_service', value=False)] if has_service else []
    node = rclpy.create_node(
        name, context=context, enable_rosout=False, parameter_overrides=without, **options
    )
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    ended = threading.Event()

    def spin() -> None:
        with suppress(ExternalShutdownException):
            while not ended.is_set():
                executor.spin_once()

    spinner = threading.Thread(target=spin)
    spinner.start()
    _users.append(domain_id)
    try:
        yield node
    finally:
        # The spinner ends itself: a shutdown from here could meet it in the middle of a callback.
        executor.create_task(ended.set)
        spinner.join(PATIENCE)
        executor.shutdown()
        # Once in some hundred tests Fast DDS waits for ever in here for a timer of its own.
        ending = threading.Thread(target=lambda: end(node, context), daemon=True)
        ending.start()
        ending.join(PATIENCE)
        if not ending.is_alive():  # else the domain keeps a node that answers nothing
            _users.remove(domain_id)


def end(node: Any, context: Any) -> None:
    """
    Destroy a node, and shut its context down.

    rclpy holds the interpreter's lock while it destroys a publisher: a deadlock in Fast DDS would
    stop every thread. ctypes releases the lock, so rcl destroys the entities first.
    """
    rcl = ctypes.CDLL('librcl.so')
    for kind in ('publisher', 'service', 'client', 'subscription'):
        destroy = getattr(rcl, f'rcl_{kind}_fini')
        for entity in getattr(node, f'{kind}s'):
            pointers = (entity.handle.pointer, node.handle.pointer)
            destroy(*(ctypes.c_void_p(pointer) for pointer in pointers))
    node.destroy_node()
    context.try_shutdown()


def isolated(domain_id: int) -> dict[str, str]:
    """Return the environment variables of a process on a DDS domain, which stays on loopback."""
    # Our own profile restricts DDS to loopback, and LOCALHOST would override it.
    profile = os.environ.get(PROFILE_VARIABLES[0]) == str(UDP_ON_LOOPBACK)
    return {'ROS_DOMAIN_ID': str(domain_id), **(WITH_PROFILE if profile else ON_LOOPBACK)}


def without_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Let Fast DDS use UDP alone, for processes and nodes that start while the patch lasts.

    After a process was killed, a later one that uses its ports can be discovered but receive
    nothing (eProsima/Fast-DDS, issue 5469).
    """
    for name in PROFILE_VARIABLES:
        monkeypatch.setenv(name, str(UDP_ON_LOOPBACK))
