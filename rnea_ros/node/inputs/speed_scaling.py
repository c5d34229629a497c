# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topic on which a robot tells how far it slows motions down."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64

from ...errors import InputError
from ...feedforward.trajectory import ScalingUnit, SpeedScaling, speed_factor

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


class SpeedScalingInput:
    """
    Listens for one activation of the control; the last value stays in force.

    :param node: the node
    :param topic: of std_msgs/Float64, empty for none
    :param unit: of its values
    :param scaling: what follows them
    :param refusals: where values that are out of range are counted
    """

    def __init__(
        self,
        node: Any,
        topic: str,
        unit: ScalingUnit,
        scaling: SpeedScaling,
        refusals: Counter[str],
    ) -> None:
        self._node = node
        self._unit = unit
        self._scaling = scaling
        self._refusals = refusals
        self._subscription = None
        if topic:
            self._subscription = node.create_subscription(Float64, topic, self._take, NEWEST)

    def close(self) -> None:
        """Unsubscribe."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)

    def _take(self, message: Any) -> None:
        try:
            self._scaling.ask(speed_factor(message.data, self._unit))
        except InputError as error:
            self._refusals['speed_scaling/out_of_range'] += 1
            self._node.get_logger().error(f'refused: {error}', throttle_duration_sec=1.0)
