# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog as a process, over real DDS, beside publishers that die, hang, and end."""

from array import array
from collections.abc import Iterator
import itertools
from pathlib import Path
import signal
import time
from typing import Any

import numpy as np
import pytest

from support import python_process
from support.ros import fake_robot as fake_robot_module
from support.ros.fake_robot import DEFAULT_RATE_LIMIT, GRAVITY, LIMITS, FakeRobot, fake_robot
from support.ros.fake_robot import node as feedforward_node
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from std_msgs.msg import Float64MultiArray

from rnea_ros.feedforward.stalls import BACKLOG_TIME
from rnea_ros.watchdog.loop import MARK

pytestmark = pytest.mark.ros

MODULE = 'rnea_ros.watchdog.effort_watchdog'
TOPIC = 'effort_controller/commands'
EFFORTS = (1.0, -20.0, 3.0)
RATE = 500
IN_TIME = 0.040
"""What is asked for: to act so soon after a command was due, s."""

PERIOD = 0.004
"""Time between two checks of the watchdog, and between its commands, s."""

TIMEOUT = 0.020
LAUNCH_PATIENCE = 5.0
"""After which ``ros2 launch`` sends SIGTERM to what SIGINT has not ended, s."""

# Machines that run tests stall: a publisher that only stalls is not to be taken for dead.
PATIENT = '-p timeout:=1.0'


class Controller:
    """
    Receives what an effort controller receives.

    :param node: the test's own
    :param topic: of the commands
    """

    def __init__(self, node: Any, topic: str = TOPIC) -> None:
        self.node = node
        self.statuses: list[Any] = []
        self.topic = topic
        self.heard: list[tuple[float, bool, list[float]]] = []  # when sent, by a watchdog, what
        self._since = 0.0
        node.create_subscription(Float64MultiArray, topic, self._on_command, 1000)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _on_command(self, message: Any, info: Any) -> None:
        sent = 1e-9 * info['source_timestamp']
        marked = any(dimension.label == MARK for dimension in message.layout.dim)
        self.heard.append((sent, marked, message.data.tolist()))

    def _on_diagnostics(self, message: Any) -> None:
        self.statuses += message.status

    def wait_for_watchdog(self) -> None:
        """Wait until the watchdog's publisher is known, and its subscription therefore soon."""
        assert wait_until(lambda: self.node.count_publishers(self.topic) > 0)
        assert wait_until(lambda: self.node.count_subscribers(self.topic) > 1)

    @property
    def from_watchdog(self) -> list[tuple[float, list[float]]]:
        """What the watchdog commanded, with the time at which each was sent, s."""
        return [(at, data) for at, marked, data in self.heard if marked and at > self._since]

    @property
    def of_publisher(self) -> list[tuple[float, list[float]]]:
        """What anybody else commanded, with the time at which each was sent, s."""
        return [(at, data) for at, marked, data in self.heard if not marked and at > self._since]

    def wait_for_commands(self, count: int = 10) -> None:
        """Wait for commands of a publisher, and for the watchdog's state ``watching``."""
        known = len(self.of_publisher)
        assert wait_until(lambda: len(self.of_publisher) > known + count)
        self.wait_for_state('watching')

    def wait_for_state(self, state: str, node: str = 'effort_watchdog') -> Any:
        """Wait for new diagnostics of a watchdog with a state; return the status."""
        known = len(self.statuses)

        def new() -> list[Any]:
            return [s for s in self.statuses[known:] if s.name.endswith(node)]

        reached = wait_until(lambda: any(s.message == state for s in new()))
        assert reached, f'{state} was not reached, but {[s.message for s in new()]}'
        return new()[-1]

    def forget(self) -> None:
        """Forget all commands that were sent until now; some of them may still come."""
        self._since = time.time()


def watchdog(domain_id: int, *options: str) -> RosProcess:
    given = [part for option in options for part in option.split()]
    return RosProcess(MODULE, '--ros-args', *given, domain_id=domain_id)


def commander(domain_id: int, rate: float = RATE, efforts: Any = EFFORTS) -> RosProcess:
    return RosProcess('support.ros.commander', *map(str, (rate, *efforts)), domain_id=domain_id)


@pytest.fixture
def controller(domain_id: int) -> Iterator[Controller]:
    with ros_node(domain_id) as node:
        yield Controller(node)


@pytest.fixture
def watching(controller: Controller, domain_id: int) -> Iterator[RosProcess]:
    with watchdog(domain_id, PATIENT) as process:
        process.wait_for(f'watching /{TOPIC}')
        controller.wait_for_watchdog()
        yield process


def reaction(controller: Controller) -> float:
    """Wait until the watchdog acts; return how long after the publisher's last command, s."""
    since: list[float] = []

    def acted() -> bool:  # what was sent before a stop may still come: one look decides
        last = controller.of_publisher[-1][0]
        since[:] = [at - last for at, _ in controller.from_watchdog if at > last]
        return len(since) > 10

    assert wait_until(acted)
    return since[0]


def assert_ramp_to_zero(controller: Controller) -> None:
    zero = [0.0] * len(EFFORTS)
    assert wait_until(lambda: [data for _, data in controller.from_watchdog[-1:]] == [zero])
    values = np.array([data for _, data in controller.from_watchdog])
    sizes = np.abs(values)
    assert (np.diff(sizes, axis=0) <= 0.0).all()
    assert (sizes <= np.abs(EFFORTS)).all()


def test_after_a_kill_it_ramps_to_zero_then_ends(controller: Controller, domain_id: int) -> None:
    slow = watchdog(domain_id, PATIENT, '-p ramp_duration:=1.0')
    with slow as watching, commander(domain_id) as process:
        controller.wait_for_commands()
        process.send(signal.SIGKILL)
        controller.wait_for_state('acted')
        now = time.time()
        time.sleep(0.3)
        assert_ramp_to_zero(controller)
        assert all(sent <= now for sent, _ in controller.from_watchdog), 'silent from then on'
        # A ramp of 1 s, which begins 1 s after the last command; a stall makes what is sent late.
        began = controller.of_publisher[-1][0] + 1.0
        for sent, data in controller.from_watchdog:
            left = np.divide(data, EFFORTS)
            assert (left >= 1.0 - (sent - began + PERIOD) / 1.0).all()
        watching.wait_for('no command for 1.')
        watching.wait_for('zero effort was commanded')
    # The controller is deactivated at this line: once, not at every check.
    assert watching.output.count('zero effort was commanded') == 1


def test_it_acts_in_time_on_a_hang_and_releases_when_commands_resume(
    controller: Controller, domain_id: int, record_property: Any
) -> None:
    options = f'-p ramp_duration:=1.0 -p timeout:={TIMEOUT}'
    with watchdog(domain_id, options), commander(domain_id) as process:
        controller.wait_for_commands()
        reactions, went_on = [], []
        for _ in range(12):
            controller.forget()
            assert wait_until(lambda: len(controller.of_publisher) > 20)
            process.send(signal.SIGSTOP)
            reactions.append(reaction(controller) - 1.0 / RATE)
            process.send(signal.SIGCONT)
            stopped = len(controller.of_publisher)
            assert wait_until(lambda n=stopped: len(controller.of_publisher) > n + 100)  # type: ignore[misc]
            again = controller.of_publisher[stopped][0]
            # Later than that it may have met another silence: machines that run tests stall.
            late = [at - again for at, _ in controller.from_watchdog if 0.0 < at - again < TIMEOUT]
            went_on.append(len(late))
    record_property('reaction_times_ms', [round(1e3 * value, 1) for value in reactions])
    # After a stall of the machine it acts later; messages of two publishers may change places.
    assert np.quantile(reactions, 0.25) < IN_TIME, reactions
    assert np.quantile(reactions, 0.75) > TIMEOUT, reactions
    assert np.quantile(went_on, 0.25) <= 2, went_on


def test_a_publisher_that_ends_with_zeros_is_let_go(
    watching: RosProcess, controller: Controller, domain_id: int
) -> None:
    with commander(domain_id) as process:
        controller.wait_for_commands()
        process.send(signal.SIGUSR1)
        status = controller.wait_for_state('quiet')
        assert status.level == DiagnosticStatus.OK
        process.send(signal.SIGTERM)
        assert process.wait() == 0
    time.sleep(0.3)
    assert controller.from_watchdog == []


def test_two_watchdogs_do_not_take_each_other_for_the_publisher(
    watching: RosProcess, controller: Controller, domain_id: int
) -> None:
    second = watchdog(domain_id, '-r __node:=second', PATIENT, '-p ramp_duration:=1.0')
    with second as other, commander(domain_id) as process:
        other.wait_for('watching')
        controller.wait_for_commands()
        controller.wait_for_state('watching', 'second')
        process.send(signal.SIGKILL)
        time.sleep(0.5)
        # From here on each watchdog receives only the other's messages, and ignores them.
        before = [each.output.count('handed back') for each in (watching, other)]
        for each, count in zip((watching, other), before, strict=True):
            each.wait_for('zero effort was commanded')
            assert each.output.count('handed back') == count


def test_commands_that_the_controller_drops_are_silence(
    watching: RosProcess, controller: Controller, domain_id: int
) -> None:
    with commander(domain_id) as process:
        controller.wait_for_commands()
        process.send(signal.SIGSTOP)
        with commander(domain_id, efforts=('nan', 1.0, 1.0)):
            watching.wait_for('not finite')
            watching.wait_for('zero effort was commanded')


def test_an_end_during_its_ramp_leaves_zero(controller: Controller, domain_id: int) -> None:
    with watchdog(domain_id, '-p ramp_duration:=30.0') as process, commander(domain_id) as other:
        controller.wait_for_commands()
        other.send(signal.SIGKILL)
        controller.forget()
        assert wait_until(lambda: len(controller.from_watchdog) > 5)
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        assert wait_until(lambda: controller.from_watchdog[-1][1] == [0.0] * len(EFFORTS))


def test_everything_follows_the_namespace(domain_id: int) -> None:
    with ros_node(domain_id) as node, watchdog(domain_id, '-r __ns:=/left') as process:
        process.wait_for(f'watching /left/{TOPIC}')
        controller = Controller(node, f'/left/{TOPIC}')
        assert controller.wait_for_state('quiet').name == 'left/effort_watchdog'


def test_ctrl_c_ends_it_with_0_before_launch_sends_the_next(watching: RosProcess) -> None:
    began = time.monotonic()
    watching.send(signal.SIGINT)
    assert watching.wait() == 0
    assert time.monotonic() - began < LAUNCH_PATIENCE
    assert 'Traceback' not in watching.output


def test_it_keeps_out_of_the_shared_memory_of_fast_dds(domain_id: int) -> None:
    def mapped(process: object) -> bool:
        maps = Path(f'/proc/{process}/maps').read_text('utf-8')
        return any('/dev/shm/fast' in line for line in maps.splitlines())

    with ros_node(domain_id), watchdog(domain_id) as process:
        process.wait_for('watching')
        if not mapped('self'):
            pytest.skip('the shared memory of Fast DDS is not in use here')
        assert not mapped(process.pid)


def test_the_process_carries_no_compiled_dynamics() -> None:
    code = f"""
        import sys
        import {MODULE}
        print([name for name in ('numba', 'llvmlite', 'mujoco') if name in sys.modules])
        print([name for name in sys.modules if name.startswith('rnea_ros.robot')])
    """
    assert python_process.run('\n'.join(map(str.strip, code.splitlines()))) == '[]\n[]\n'


@pytest.mark.parametrize('measured', [True, False], ids=['measured efforts', 'none'])
def test_after_a_stall_the_watchdogs_effort_counts(domain_id: int, measured: bool) -> None:
    options = '-p joint_states_timeout:=0.1 -p hold_duration:=60.0'
    with (
        fake_robot(domain_id) as robot, watchdog(domain_id),
        feedforward_node(domain_id, options) as process,
    ):
        controller = Controller(robot.node)
        if measured:
            robot.node.create_timer(0.002, lambda: measure(robot))
        controller.wait_for_commands()
        assert wait_until(lambda: robot.steady(GRAVITY))
        known = len(controller.heard)
        process.send(signal.SIGSTOP)
        controller.wait_for_state('acted')
        process.send(signal.SIGCONT)
        process.wait_for('cancelled the motion, resumed control')
        assert wait_until(lambda: robot.steady(GRAVITY))
    heard = list(itertools.dropwhile(lambda command: not command[1], controller.heard[known:]))
    first, second = [at for at, (_, marked, _) in enumerate(heard) if not marked][:2]
    efforts = np.array([effort for _, _, effort in heard])
    acting, started = efforts[[first - 1]], efforts[first]
    if heard[second][0] - heard[first][0] > 0.5 * BACKLOG_TIME:
        # Suspended while DDS sent it: it arrives after the stall, and acts from then on.
        acting, started = efforts[[first - 1, first]], efforts[second]
    largest = DEFAULT_RATE_LIMIT * LIMITS * fake_robot_module.PERIOD * (1.0 + 1e-9)
    steps = np.abs(started - acting)
    assert (steps <= largest).all(axis=1).any(), steps


def measure(robot: FakeRobot) -> None:
    """Let the robot measure the effort that acts."""
    if robot.commands:
        robot.message.effort[:] = array('d', robot.newest)
