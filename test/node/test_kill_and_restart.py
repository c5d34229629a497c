# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A killed node over DDS: the watchdog takes the effort away, and a new node controls again."""

import signal
import time

import numpy as np
import pytest

from support.models.robots import ROOT
from support.ros.fake_robot import node as feedforward_node
from support.ros.node_observer import Onlooker
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

pytestmark = pytest.mark.ros

ARM = ('-p', f'urdf:={ROOT / "urdf/ur5e.urdf"}', '-p', f'extra_damping:={[20.0] * 6}')
PATIENT = ('-p', 'timeout:=1.0')
"""Machines stall: the watchdog must not take a node that lives for dead."""


def commands_since(seen: Onlooker, began: float) -> bool:
    """Return whether an effort was commanded after a time, s."""
    return any(sent > began and command.any() for sent, command in list(seen.commands))


def test_after_a_kill_the_effort_ends_and_a_new_node_controls(domain_id: int) -> None:
    with (
        ros_node(domain_id) as node,
        RosProcess(
            'rnea_ros.sim.simulated_robot', '--ros-args', *ARM, domain_id=domain_id
        ) as arm,
        RosProcess(
            'rnea_ros.watchdog.effort_watchdog', '--ros-args', *PATIENT, domain_id=domain_id
        ) as watchdog,
    ):
        seen = Onlooker(node)
        with feedforward_node(domain_id, '-p hold_duration:=60.0') as first:
            seen.wait_until_controlled()
            assert wait_until(lambda: np.abs(seen.newest).max() > 1.0)
            assert wait_until(lambda: seen.states.get('effort_watchdog') == 'watching')
            first.send(signal.SIGKILL)
            assert first.wait() == -signal.SIGKILL
        watchdog.wait_for('zero effort was commanded')
        assert wait_until(lambda: not seen.newest.any())
        seen.diagnostics, began = {}, time.time()
        with feedforward_node(domain_id, '-p hold_duration:=60.0') as second:
            seen.wait_until_controlled()
            assert wait_until(lambda: commands_since(seen, began))
            second.send(signal.SIGTERM)
            assert second.wait() == 0, second.output
        assert wait_until(lambda: not seen.newest.any())
        for process in (first, second, watchdog, arm):
            assert 'Traceback' not in process.output
