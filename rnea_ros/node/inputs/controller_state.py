# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topic on which a trajectory controller tells what it wants, read once a tick."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ...feedforward import FeedforwardController, Reason
from ...feedforward.trajectory import ControllerStateError, ControllerStateMonitor
from ...messages import FixedLayoutReader, MalformedError, controller_state_reader
from ...ros import Clock
from .robot import Raw


def controller_state_type() -> Any:
    """
    Return the class control_msgs/JointTrajectoryControllerState.

    :raises InputError: the package is not there
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
    Hands what a trajectory controller wants on to the control; for the loop's thread.

    :param subscription: to its messages
    :param monitor: judges them
    :param controller: follows them
    :param clock: the time of ages and stamps
    """

    def __init__(
        self,
        subscription: Raw,
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

    def take(self, now: float) -> None:
        """
        Take the reference that came.

        :param now: the tick's time, s
        """
        for message in self._subscription.take_all():
            if not self._controller.following:
                continue
            try:
                sample, stamp = self._read(message)
            except MalformedError as error:
                self._monitor.refuse(ControllerStateError(Reason.MALFORMED, error.detail))
                continue
            names, position, velocity, acceleration, speed = sample
            setpoint = self._monitor.update(
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
            if setpoint is not None:
                self._controller.set_reference(setpoint)
