# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topic with the robot's speed scaling."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64

from ...errors import InputError
from ...feedforward.trajectory import SpeedScaling, speed_factor

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class SpeedScalingInput:
    """
    Sets the requested speed factor from a topic; the last value stays in force.

    :param node: the node that subscribes
    :param topic: topic of std_msgs/Float64; empty for none
    :param scale: factor of one unit of its values; 0.01 for percent
    :param scaling: speed scaling of the motions
    :param rejections: counter for values out of range
    """

    def __init__(
        self,
        node: Any,
        topic: str,
        scale: float,
        scaling: SpeedScaling,
        rejections: Counter[str],
    ) -> None:
        self._node = node
        self._scale = scale
        self._scaling = scaling
        self._rejections = rejections
        self._subscription = None
        if topic:
            self._subscription = node.create_subscription(Float64, topic, self._take, NEWEST)

    def close(self) -> None:
        """Unsubscribe."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)

    def _take(self, message: Any) -> None:
        try:
            self._scaling.set_target(speed_factor(message.data, self._scale))
        except InputError as error:
            self._rejections['speed_scaling/out_of_range'] += 1
            self._node.get_logger().error(f'rejected: {error}', throttle_duration_sec=1.0)
