# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The DDS domains of the tests themselves."""

import threading
from typing import Any

import pytest

from support.ros import ros_process
from support.ros.ros_process import NO_ROS, new_domain_id, ros_node

pytest.importorskip('rclpy', reason=NO_ROS)

pytestmark = pytest.mark.ros


def test_a_domain_is_reused_only_when_it_is_empty() -> None:
    used, idle = new_domain_id(), new_domain_id()
    with ros_node(used):
        given = [new_domain_id() for _ in range(2 * ros_process.MAX_DOMAINS)]
        assert used not in given
        assert idle in given
    assert used in [new_domain_id() for _ in range(ros_process.MAX_DOMAINS)]


def test_the_domain_of_a_running_node_is_not_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    hung, forever = new_domain_id(), threading.Event()
    end = ros_process.end

    def end_late(node: Any, context: Any) -> None:
        forever.wait()
        end(node, context)

    monkeypatch.setattr(ros_process, 'end', end_late)
    monkeypatch.setattr(ros_process, 'PATIENCE', 0.1)
    with ros_node(hung):
        pass
    try:
        assert hung not in [new_domain_id() for _ in range(2 * ros_process.MAX_DOMAINS)]
    finally:
        forever.set()
