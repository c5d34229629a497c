# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Force-torque sensors on the bench: plain numbers in, external wrenches out, time is counted up.

The arm carries a tool of 2 kg behind a fixed joint, where an in-line sensor sits.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.settings import SensorPlacement, WrenchInputSettings
from rnea_ros.feedforward.wrench import WrenchInputs
from support.models.robots import joint, link, load, robot

Array = NDArray[np.float64]

WEIGHT = 2.0 * 9.81
"""Of the tool, N."""

PLAIN: dict[str, Any] = {
    'name': 'wrist', 'topic': '/wrist', 'link': 'tool', 'cutoff': 100.0, 'fade': 0.05,
    'timeout': 0.02, 'tare_duration': 0.1, 'deadband_force': 0.0, 'deadband_torque': 0.0,
}
"""A sensor that passes on what it reads."""

INLINE = SensorPlacement.INLINE
CONTACT = SensorPlacement.CONTACT


@cache
def arm() -> RobotModel:
    """Return two hinges about y, links of 0.5 m along x, and a tool at the end."""
    return load(robot(
        link('base'), link('upper', 2.0, com=(0.25, 0.0, 0.0)),
        link('lower', 1.0, com=(0.25, 0.0, 0.0)),
        link('tool', 2.0, com=(0.0, 0.0, 0.1), inertia=(0.01, 0.0, 0.0, 0.01, 0.0, 0.01)),
        link('tip'), link('post'), joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
        joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.5, 0, 0), axis=(0, 1, 0)),
        joint('flange', 'fixed', 'lower', 'tool', xyz=(0.5, 0, 0)),
        joint('end', 'fixed', 'tool', 'tip', xyz=(0.0, 0.0, 0.3)),
        joint('stand', 'fixed', 'base', 'post', xyz=(0.0, 1.0, 0.0)), name='arm',
    ))


class WrenchRig:
    """
    Steps the sensors of a robot as the loop would: readings first, then a tick.

    :param model: the robot
    :param sensors: what is other than in :data:`PLAIN`, one a sensor
    """

    def __init__(self, model: RobotModel, *sensors: dict[str, Any]) -> None:
        self.model = model
        self.settings = [WrenchInputSettings(**(PLAIN | sensor)) for sensor in sensors or ({},)]
        self.inputs = WrenchInputs(model, self.settings)
        self.period = 0.001
        self.now = 100.0
        self.q, self.qd = np.zeros(model.nv), np.zeros(model.nv)

    def feed(
        self, force: Sequence[float] = (0.0, 0.0, 0.0), torque: Sequence[float] = (0.0, 0.0, 0.0),
        *, name: str = '', frame: str = '', stamp: float | None = None,
    ) -> Reason | None:
        """Let a reading come now."""
        return self.inputs.sensors[name or self.settings[0].name].monitor.take_sample(
            frame, np.array(force, dtype=float), np.array(torque, dtype=float),
            stamp=self.now if stamp is None else stamp, clock=self.now, received=self.now,
        )

    def wait(self, periods: float = 1.0) -> None:
        """Let time pass in which nothing happens."""
        self.now += periods * self.period

    def step(self, periods: float = 1.0) -> Array:
        """Let time pass, and return the first sensor's wrench, [torque; force]."""
        self.now += periods * self.period
        self.inputs.advance(self.now, self.q, self.qd)
        return self.inputs.sensors[self.settings[0].name].wrench.copy()

    def run(
        self, seconds: float, force: ArrayLike | None = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0), frame: str = '',
    ) -> Array:
        """Return the first sensor's wrenches while it reads the same, or, for None, nothing."""
        wrenches = []
        for _ in range(round(seconds / self.period)):
            self.now += self.period
            if force is not None:
                lists = np.asarray(force, float).tolist(), np.asarray(torque, float).tolist()
                assert self.feed(*lists, frame=frame) is None
            wrenches.append(self.step(0.0))
        return np.array(wrenches)

    def efforts(self) -> Array:
        """Return a copy of what the wrenches add to the joints' efforts."""
        return self.inputs.efforts(self.q).copy()
