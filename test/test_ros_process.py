# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The DDS domains of the tests themselves."""

import pytest
import ros_process
from ros_process import NO_ROS, new_domain_id, ros_node

pytest.importorskip('rclpy', reason=NO_ROS)

pytestmark = pytest.mark.ros


def test_a_domain_is_given_again_only_when_nobody_is_in_it() -> None:
    used, idle = new_domain_id(), new_domain_id()
    with ros_node(used):
        given = [new_domain_id() for _ in range(2 * ros_process.MOST_DOMAINS)]
        assert used not in given
        assert idle in given
    assert used in [new_domain_id() for _ in range(ros_process.MOST_DOMAINS)]
