# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The reference of a joint_trajectory_controller, read once a tick."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ...feedforward import FeedforwardController, Reason
from ...feedforward.trajectory import ControllerStateError, ControllerStateMonitor
from ...messages import FixedLayoutReader, MalformedError, controller_state_reader
from ...ros import Clock
from .sensor_topics import RawSubscription


def controller_state_type() -> Any:
    """
    Return the class control_msgs/JointTrajectoryControllerState.

    :raises InputError: control_msgs is not installed
    """
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
    """
    Gives the control the reference of a trajectory controller; for the loop's thread.

    :param subscription: of JointTrajectoryControllerState
    :param monitor: checks every message
    :param controller: the control, which follows the reference
    :param clock: the loop's clock
    """

    def __init__(
        self,
        subscription: RawSubscription,
        monitor: ControllerStateMonitor,
        controller: FeedforwardController,
        clock: Clock,
    ) -> None:
        self._subscription = subscription
        self._monitor = monitor
        self._controller = controller
        self._clock = clock
        fields = controller_state_type().get_fields_and_field_types()
        self._read = FixedLayoutReader(controller_state_reader(fields))

    def take_messages(self, now: float) -> None:
        """
        Take the messages that have arrived.

        :param now: time of the tick, s
        """
        for message in self._subscription.take_all():
            if not self._controller.following:
                continue
            try:
                sample, stamp = self._read(message)
            except MalformedError as error:
                self._monitor.reject(ControllerStateError(Reason.MALFORMED, error.detail))
                self._controller.note_setpoint()
                continue
            names, position, velocity, acceleration, speed = sample
            setpoint = self._monitor.take_sample(
                names,
                position,
                velocity,
                acceleration,
                speed.item() if speed.size else None,
                stamp=stamp,
                clock=self._clock.stamp(),
                received=now,
                measured=self._controller.measured()[0],
                held=lambda: self._controller.hold_position(now),
            )
            if setpoint is None:
                self._controller.note_setpoint()
            else:
                self._controller.set_reference(setpoint)
