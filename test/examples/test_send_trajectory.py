# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What ``send_trajectory.py`` sees on its domain before it sends anything."""

import runpy
from types import SimpleNamespace
from typing import Any

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

import rclpy
from rclpy import wait_for_message
from sensor_msgs.msg import JointState


@pytest.mark.parametrize(('nodes', 'ends'), [
    (['robot', 'robot'], 'two robots on one domain'), (['robot', 'other'], 'sent'),
    (['_NODE_NAME_UNKNOWN_', '_NODE_NAME_UNKNOWN_'], 'sent'),
])
def test_nothing_is_sent_to_two_robots_of_one_name(
    nodes: list[str], ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(message: Any) -> None:
        raise AssertionError('sent')

    callbacks: dict[str, Any] = {}
    publisher = SimpleNamespace(publish=send, get_subscription_count=lambda: 1)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher,
        create_subscription=lambda _, topic, callback, __: callbacks.update({topic: callback}),
        get_publishers_info_by_topic=lambda _: [
            SimpleNamespace(node_namespace='/', node_name=name) for name in nodes
        ],
        get_subscriptions_info_by_topic=lambda _: [],
    )
    states = JointState(name=['a'], position=[0.0])
    monkeypatch.setattr('sys.argv', ['send_trajectory'])
    monkeypatch.setattr(rclpy, 'init', lambda: None)
    monkeypatch.setattr(rclpy, 'create_node', lambda _: node)
    monkeypatch.setattr(
        rclpy, 'spin_once', lambda *_, **__: callbacks.get('joint_states', id)(states)
    )
    monkeypatch.setattr(wait_for_message, 'wait_for_message', lambda *_, **__: (True, states))
    example = runpy.run_path(str(ROOT / 'examples/send_trajectory.py'))
    with pytest.raises(AssertionError, match=ends):
        example['main']()
