# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A push that comes and goes, timed from the moment at which the control takes over."""

from __future__ import annotations

import math

from ..errors import InputError
from ..robot import Wrench
from .physics import SimulatedRobot


class ScheduledPush:
    """
    Pushes a robot for a while.

    :param robot: the robot
    :param link: the link that is pushed
    :param wrench: what the environment exerts on it
    :param start: time after the brakes opened, s
    :param duration: s
    """

    def __init__(
        self, robot: SimulatedRobot, link: str, wrench: Wrench, start: float, duration: float
    ) -> None:
        for name, value in (('start', start), ('duration', duration)):
            if math.isnan(value) or value < 0.0:
                raise InputError(f'push {name}', f'{value} s is no time')
        # A name or a number that cannot be used shows at once, not when the time has come.
        robot.apply_push(link, wrench)
        robot.apply_push(link, None)
        self._robot = robot
        self._link = link
        self._wrench = wrench
        self._start = start
        self._end = start + duration
        self._opened = math.inf
        self._pushing = False

    def update(self) -> None:
        """Begin or end the push, if it is time; to be called before every step."""
        if self._robot.braked:
            return
        self._opened = min(self._opened, self._robot.time)
        due = self._start <= self._robot.time - self._opened < self._end
        if due != self._pushing:
            self._robot.apply_push(self._link, self._wrench if due else None)
            self._pushing = due
