# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot with an IMU on its base, on the bench: time is a number that the rig counts up."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.base_imu import BaseSensor, BaseState
from rnea_ros.feedforward.settings import BaseSensorSettings
from support.models.robots import joint, link, load, robot

Array = NDArray[np.float64]

CLOCK = 1_700_000_000.0
"""What the wall clock shows when monotonic time is 0."""

G = 9.81
LEVEL = (0.0, 0.0, 0.0, 1.0)
AT_REST = (0.0, 0.0, G)
STILL = (0.0, 0.0, 0.0)
MOUNT_XYZ, MOUNT_RPY = (0.3, -0.2, 0.5), (0.4, -1.1, 2.5)


def tilting_robot(gravity: ArrayLike = (0.0, 0.0, -G)) -> RobotModel:
    """Return an arm with one IMU in its root link's frame, one askew beside it, one on the arm."""
    return load(robot(
        link('base', 1.0), link('plate'), link('imu'),
        link('arm', 2.0, (0.4, 0.1, 0.2), (0.1, 0.01, 0.02, 0.2, 0.03, 0.15)),
        link('hand', 1.0, (0.1, 0.2, 0.0)), link('hand_imu'),
        joint('bolts', 'fixed', 'base', 'plate', xyz=(0.0, 0.0, 0.1)),
        joint('screws', 'fixed', 'plate', 'imu', xyz=MOUNT_XYZ, rpy=MOUNT_RPY),
        joint('shoulder', 'revolute', 'base', 'arm', axis=(0, 1, 0)),
        joint('wrist', 'continuous', 'arm', 'hand', xyz=(0.6, 0.1, 0), axis=(1, 0, 1)),
        joint('glue', 'fixed', 'hand', 'hand_imu'),
    ), gravity)


def about(axis: ArrayLike, angle: float) -> tuple[float, ...]:
    """Return the quaternion x, y, z, w of a turn."""
    unit = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    return (*(np.sin(0.5 * angle) * unit).tolist(), float(np.cos(0.5 * angle)))


class BaseRig:
    """
    Feeds messages, by default of a level base at rest, and takes samples.

    :param model: the robot
    :param settings: of the IMU, other than the defaults
    """

    def __init__(self, model: RobotModel | None = None, **settings: Any) -> None:
        self.model = model or tilting_robot()
        self.settings = BaseSensorSettings(**settings)
        self.sensor = BaseSensor(self.model, self.settings)
        self.now = 1000.0

    def feed(
        self, frame_id: str = 'base', *, orientation: ArrayLike | None = LEVEL,
        turn: ArrayLike | None = STILL, push: ArrayLike | None = AT_REST,
        stamp: float | None = None,
    ) -> Reason | None:
        """Let a message come now, by default stamped with the time of its receipt."""
        return self.sensor.imu.take_sample(
            frame_id,
            *(
                None if part is None else np.asarray(part, dtype=np.float64).tolist()
                for part in (orientation, turn, push)
            ),
            stamp=CLOCK + self.now if stamp is None else stamp,
            clock=CLOCK + self.now,
            received=self.now,
        )

    def sample(self) -> BaseState:
        """Return a copy of the base's motion now."""
        return BaseState(*(part.copy() for part in self.sensor.advance(self.now)))

    def run(self, seconds: float, *, period: float = 0.01, **message: Any) -> BaseState:
        """Let the same message come for a while; return the base's motion at the end."""
        for _ in range(round(seconds / period)):
            self.now += period
            assert self.feed(**message) is None
            self.sample()
        return self.sample()

    def wait(self, seconds: float, *, period: float = 0.01) -> BaseState:
        """Let no message come for a while; return the base's motion at the end."""
        for _ in range(round(seconds / period)):
            self.now += period
            self.sample()
        return self.sample()
