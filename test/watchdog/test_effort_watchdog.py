# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The watchdog as a process, over real DDS: a killed publisher, and a node that stood still."""

from pathlib import Path
import signal
from typing import Any

import numpy as np
import pytest

from support import python_process
from support.ros.fake_robot import DEFAULT_RATE_LIMIT, GRAVITY, LIMITS, PERIOD, FakeRobot
from support.ros.fake_robot import node as feedforward_node
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Float64MultiArray

from rnea_ros.watchdog.effort_watchdog import MARK

pytestmark = pytest.mark.ros

MODULE = 'rnea_ros.watchdog.effort_watchdog'
WATCHDOG = '/effort_controller/commands/watchdog'
NAME, TOPIC = 'left/effort_watchdog', '/left/arm_controller/commands'


def test_after_a_kill_zeros_come_in_its_namespace(domain_id: int) -> None:
    received: dict[str, list[Any]] = {TOPIC: [], f'{TOPIC}/watchdog': []}
    states: list[str] = []

    def diagnosed(message: Any) -> None:
        states.extend(each.message for each in message.status if each.name == NAME)

    def zeros(topic: str) -> bool:
        return any(
            message.layout.dim and message.layout.dim[0].label == MARK
            and message.data.tolist() == [0.0, 0.0, 0.0] for message in received[topic]
        )

    options = ('-r', '__ns:=/left', '-p', 'command_topic:=arm_controller/commands')
    commander = ('support.ros.commander', TOPIC, '500', '1.0', '-20.0', '3.0')
    with (
        ros_node(domain_id) as node,
        RosProcess(MODULE, '--ros-args', *options, domain_id=domain_id) as watchdog,
    ):
        for topic, messages in received.items():
            node.create_subscription(Float64MultiArray, topic, messages.append, 1000)
        node.create_subscription(DiagnosticArray, '/diagnostics', diagnosed, 10)
        watchdog.wait_for(f'watching {TOPIC}')
        with RosProcess(*commander, domain_id=domain_id) as killed:
            assert wait_until(lambda: states[-1:] == ['watching'])
            killed.send(signal.SIGKILL)
            assert wait_until(lambda: all(map(zeros, received)))
        assert wait_until(lambda: states[-1] == 'acted')
        watchdog.send(signal.SIGTERM)
        assert watchdog.wait() == 0


def test_it_keeps_out_of_the_shared_memory_of_fast_dds(domain_id: int) -> None:
    def mapped(process: object) -> bool:
        maps = Path(f'/proc/{process}/maps').read_text('utf-8')
        return any('/dev/shm/fast' in line for line in maps.splitlines())

    with ros_node(domain_id), RosProcess(MODULE, domain_id=domain_id) as process:
        process.wait_for('watching')
        if not mapped('self'):
            pytest.skip('the shared memory of Fast DDS is not in use here')
        assert not mapped(process.pid)


def test_the_process_carries_no_compiled_dynamics() -> None:
    heavy = ('numba', 'llvmlite', 'mujoco', 'rnea_ros.robot')
    code = f'import sys, {MODULE}; print([name for name in {heavy} if name in sys.modules])'
    assert python_process.run(code) == '[]\n'


def test_after_a_stall_a_node_starts_from_the_watchdogs_effort(
    robot: FakeRobot, domain_id: int
) -> None:
    options = '-p joint_states_timeout:=0.1 -p hold_duration:=600.0'
    left = -GRAVITY
    step = DEFAULT_RATE_LIMIT * LIMITS * PERIOD * (1.0 + 1e-9)
    assert (np.abs(left - GRAVITY) > 2.0 * step).any()
    with feedforward_node(domain_id, options) as process:
        watchdog = robot.node.create_publisher(Float64MultiArray, WATCHDOG, 1)
        sent: list[None] = []
        robot.node.create_timer(
            0.01, lambda: sent.append(watchdog.publish(Float64MultiArray(data=left)))
        )

        def starts_from_it() -> bool:
            """Stall the node once: DDS may be late with the effort, or lose the first command."""
            assert wait_until(lambda: robot.newest_is(GRAVITY))
            process.send(signal.SIGSTOP)
            before = len(sent)
            assert wait_until(lambda: len(sent) > before + 30)
            since = len(robot.commands)
            process.send(signal.SIGCONT)
            assert wait_until(lambda: robot.commands[since:] and robot.newest_is(GRAVITY))
            return any(
                (np.abs(command - left) <= step).all() for _, command in robot.commands[since:]
            )

        assert wait_until(watchdog.get_subscription_count)
        assert wait_until(starts_from_it)
