# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of a joint_trajectory_controller, read once a tick, and the speed scaling."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64

from ...errors import InputError
from ...feedforward import FeedforwardController
from ...feedforward.motion import ControllerStateMonitor, SpeedScaling, TrajectoryError
from ...feedforward.settings import ReferenceSettings
from ...messages import FixedLayoutReader, MalformedError, controller_state_reader
from ...ros import Clock
from .sensor_topics import RawSubscription


def controller_state_type() -> Any:
    """Return the class of a trajectory controller's state; raise an InputError without it."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError as error:
        raise InputError(
            'reference_source',
            f"'controller_state' needs the ROS package control_msgs, which cannot be imported: "
            f'{error}',
        ) from error
    return JointTrajectoryControllerState


class ControllerStateInput:
    """Gives the control the reference of a trajectory controller; for the loop's thread."""

    def __init__(
        self, subscription: RawSubscription, monitor: ControllerStateMonitor,
        controller: FeedforwardController, clock: Clock,
    ) -> None:
        self._subscription = subscription
        self._monitor = monitor
        self._controller = controller
        self._clock = clock
        fields = controller_state_type().get_fields_and_field_types()
        self._read = FixedLayoutReader(controller_state_reader(fields))

    def take_messages(self, now: float) -> None:
        """Take the messages that have arrived."""
        for message in self._subscription.take_all():
            if not self._controller.following:
                continue
            try:
                sample, stamp = self._read(message)
            except MalformedError as error:
                self._monitor.reject(TrajectoryError(error.reason, error.detail))
                self._controller.note_setpoint()
                continue
            names, position, velocity, acceleration, speed = sample
            setpoint = self._monitor.take_sample(
                names, position, velocity, acceleration, speed.item() if speed.size else None,
                stamp=stamp, clock=self._clock.stamp(), received=now,
                measured=self._controller.measured()[0],
                held=lambda: self._controller.hold_position(now),
            )
            if setpoint is None:
                self._controller.note_setpoint()
            else:
                self._controller.set_reference(setpoint)


NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)


def subscribe_speed_scaling(
    node: Any, resources: ExitStack, settings: ReferenceSettings, scaling: SpeedScaling,
    rejections: Counter[str],
) -> None:
    """Set the requested speed factor from a topic, if any; the last value stays in force."""

    def take(message: Any) -> None:
        try:
            scaling.set_target(message.data, settings.speed_scaling_scale)
        except InputError as error:
            rejections['speed_scaling/out_of_range'] += 1
            node.get_logger().error(f'rejected: {error}', throttle_duration_sec=1.0)

    topic = settings.speed_scaling_topic
    if topic:
        subscription = node.create_subscription(Float64, topic, take, NEWEST)
        resources.callback(node.destroy_subscription, subscription)
