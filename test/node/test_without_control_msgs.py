# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node where the package ``control_msgs`` is not installed."""

from __future__ import annotations

import sys

import pytest
from ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros


def test_without_control_msgs_there_is_no_action_and_one_line_says_so(
    domain_id: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from node_in_process import node_in_process

    monkeypatch.setitem(sys.modules, 'control_msgs.action', None)
    with node_in_process(domain_id, '') as process:
        services = process.node.get_service_names_and_types_by_node('feedforward', '/')
        assert services
        assert not any('_action' in name for name, _ in services)
        assert not process.node.action.finishing()
    line = 'no action ~/follow_joint_trajectory: control_msgs is not installed'
    assert capfd.readouterr().err.count(line) == 1
