# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node where the package ``control_msgs`` is not installed."""

from importlib.util import find_spec
import sys

import pytest

from support.ros.fake_robot import FakeRobot, node
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros


def test_without_control_msgs_one_line_says_that_the_action_is_missing(
    domain_id: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from support.ros.node_in_process import node_in_process

    monkeypatch.setitem(sys.modules, 'control_msgs.action', None)
    with node_in_process(domain_id, '') as process:
        services = process.node.get_service_names_and_types_by_node('feedforward', '/')
        assert services
        assert not any('_action' in name for name, _ in services)
        assert not process.node.action.finishing()
    line = 'no action ~/follow_joint_trajectory: control_msgs is not installed'
    assert capfd.readouterr().err.count(line) == 1


@pytest.mark.skipif(find_spec('control_msgs') is not None, reason='control_msgs is installed')
def test_without_control_msgs_configure_is_rejected_and_names_the_package(
    robot: FakeRobot, domain_id: int
) -> None:
    with node(domain_id, '-p reference_source:=controller_state') as process:
        process.wait_for(
            "cannot configure: reference_source: 'controller_state' needs the ROS package "
            'control_msgs, which cannot be imported'
        )
        assert not robot.commands
