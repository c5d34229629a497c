# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Signals: those that end a node in good order, and those that must not end it at all."""

from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

ENDING = {'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGXCPU'}
DEFAULT = {
    'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP',  # crashes
    'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU',  # suspend and resume
    'SIGCHLD', 'SIGKILL', 'SIGURG', 'SIGWINCH',
}

PROCESS = """
import time
from rnea_ros.ros import NodeProcess
process = NodeProcess('name', '', {}, [])
print('ready', flush=True)
process.spin()
print('ended', flush=True)
time.sleep(0.5)
"""


def process(*, nohup: bool = False) -> subprocess.Popen[str]:
    """Return the process of a node without a node, after its start."""
    # The tests themselves may run under nohup.
    hangup = '--ignore-signal=HUP' if nohup else '--default-signal=HUP'
    program = ['env', hangup, sys.executable, '-c', PROCESS]
    started = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == 'ready\n'
    return started


def handled(pid: int, effect: str) -> set[str]:
    """Return the names of the signals with an effect: SigCgt, caught, or SigIgn, ignored."""
    (line,) = (
        line for line in Path(f'/proc/{pid}/status').read_text().splitlines() if effect in line
    )
    mask = int(line.split()[1], 16)
    return {name_of(number) for number in signal.valid_signals() if mask >> (number - 1) & 1}


def name_of(number: int) -> str:
    return signal.Signals(number).name if number in list(signal.Signals) else str(number)


@pytest.mark.skipif(sys.platform != 'linux', reason='reads /proc')
def test_no_signal_ends_a_node_but_crashes_kills_and_those_that_ramp_down() -> None:
    node = process()
    caught, ignored = handled(node.pid, 'SigCgt'), handled(node.pid, 'SigIgn')
    every = {name_of(number) for number in signal.valid_signals()}
    node.terminate()
    assert node.wait(30.0) == 0
    assert caught == ENDING
    assert every - caught - ignored == DEFAULT


@pytest.mark.parametrize('number', [signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_signals_until_the_process_has_ended_leave_exit_code_0(number: signal.Signals) -> None:
    node = process()
    deadline = time.monotonic() + 30.0
    while node.poll() is None and time.monotonic() < deadline:
        node.send_signal(number)
        time.sleep(0.001)
    assert node.returncode == 0


def test_a_node_under_nohup_survives_a_closed_terminal() -> None:
    node = process(nohup=True)
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM, signal.SIGRTMIN):
        node.send_signal(number)
    time.sleep(0.3)
    assert node.poll() is None
    node.send_signal(signal.SIGTERM)
    assert node.wait(30.0) == 0
