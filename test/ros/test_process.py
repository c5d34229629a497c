# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The process of a node: signals, exceptions in callbacks, calls that rclpy lacks."""

from collections.abc import Iterator
from pathlib import Path
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS, isolated, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

import rclpy

from rnea_ros.ros import MACHINE_TIME, NodeProcess, rclpy_internals

ENDING = {'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGXCPU'}
DEFAULT = {
    'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP',  # crashes
    'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU',  # suspend and resume
    'SIGCHLD', 'SIGKILL', 'SIGURG', 'SIGWINCH',
}

PROCESS = """
from rnea_ros.ros import NodeProcess
process = NodeProcess('name', '', {}, [])
print('ready', flush=True)
process.spin()
print('ended', flush=True)
"""


def name_of(number: int) -> str:
    return signal.Signals(number).name if number in list(signal.Signals) else str(number)


@pytest.mark.skipif(sys.platform != 'linux', reason='reads /proc')
@pytest.mark.parametrize('nohup', [False, True])
def test_signals_ramp_down_or_are_ignored_and_leave_exit_code_0(*, nohup: bool) -> None:
    # The tests themselves may run under nohup.
    hangup = '--ignore-signal=HUP' if nohup else '--default-signal=HUP'
    program = ['env', hangup, sys.executable, '-c', PROCESS]
    node = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert node.stdout is not None
    assert node.stdout.readline() == 'ready\n'

    def handled(effect: str) -> set[str]:
        """Return the signals with an effect: SigCgt, caught, or SigIgn, ignored."""
        lines = Path(f'/proc/{node.pid}/status').read_text().splitlines()
        mask = int(next(line for line in lines if effect in line).split()[1], 16)
        return {name_of(each) for each in signal.valid_signals() if mask >> (each - 1) & 1}

    caught, every = handled('SigCgt'), {name_of(each) for each in signal.valid_signals()}
    assert caught == ENDING - ({'SIGHUP'} if nohup else set())
    assert every - caught - handled('SigIgn') == DEFAULT

    def ended() -> bool:
        node.send_signal(signal.SIGHUP)  # further ones until the process has ended
        node.send_signal(signal.SIGQUIT)
        return node.poll() is not None

    assert wait_until(ended)
    assert node.returncode == 0
    assert node.stdout.read() == 'ended\n'


@pytest.fixture
def process(domain_id: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[NodeProcess]:
    """Give a process of a node, and restore the handlers of all signals."""
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    try:
        yield NodeProcess('test', 'a test', {}, [])
    finally:
        rclpy.try_shutdown()
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


@pytest.mark.ros
def test_an_exception_in_a_callback_is_logged_and_the_node_goes_on(
    process: NodeProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    node, called = rclpy.create_node('test'), []

    def call() -> None:
        called.append(True)
        raise ZeroDivisionError('planted')

    node.create_timer(0.01, call, clock=MACHINE_TIME)
    process.spin(node, running=lambda: len(called) < 5)
    assert len(called) == 5
    assert 'ZeroDivisionError: planted' in capfd.readouterr().err
    node.destroy_node()


@pytest.mark.ros
def test_signals_within_half_a_second_are_one(
    process: NodeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for time, count in ((7.0, 1), (7.01, 1), (7.49, 1), (7.6, 2), (8.0, 2), (8.2, 3)):
        monkeypatch.setattr(
            'rnea_ros.ros.process.time', SimpleNamespace(monotonic=lambda now=time: now)
        )
        signal.raise_signal(signal.SIGINT if count == 2 else signal.SIGTERM)
        assert process.signals == count


def test_a_missing_call_of_rclpy_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, methods in rclpy_internals.USED.items():
        for method in methods:
            classes = {
                each: SimpleNamespace(**dict.fromkeys(names))
                for each, names in rclpy_internals.USED.items()
            }
            delattr(classes[name], method)
            monkeypatch.setattr(rclpy_internals, '_rclpy', SimpleNamespace(**classes))
            assert rclpy_internals.missing() == [f'{name}.{method}']
    with pytest.raises(SystemExit, match='2'):
        NodeProcess('feedforward', '', {}, [])
    (line,) = capfd.readouterr().err.splitlines()
    assert line.endswith(f'this version of rclpy lacks {name}.{method}')
