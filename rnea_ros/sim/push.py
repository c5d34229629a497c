# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A push of limited duration, scheduled from the first command."""

from __future__ import annotations

import math

from ..errors import InputError
from ..robot import Wrench
from .physics import SimulatedRobot


class ScheduledPush:
    """
    Pushes a link of a robot in an interval of simulated time.

    :param robot: robot to push
    :param link: name of the pushed link
    :param wrench: wrench of the environment on the link
    :param start: start of the push after the brakes open, s
    :param duration: duration of the push, s
    """

    def __init__(
        self, robot: SimulatedRobot, link: str, wrench: Wrench, start: float, duration: float
    ) -> None:
        for name, value in (('start', start), ('duration', duration)):
            if math.isnan(value) or value < 0.0:
                raise InputError(f'push {name}', f'{value} s is not a time of at least 0')
        # Raise errors in the arguments now, not at the start of the push.
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
        """Start or end the push when due; call this before every step."""
        if self._robot.braked:
            return
        self._opened = min(self._opened, self._robot.time)
        due = self._start <= self._robot.time - self._opened < self._end
        if due != self._pushing:
            self._robot.apply_push(self._link, self._wrench if due else None)
            self._pushing = due
