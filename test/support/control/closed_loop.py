# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control and the simulated robot in one process, tick by tick."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel
from rnea_ros.feedforward import CONTROLLING, FeedforwardController, JointStateMonitor
from rnea_ros.feedforward.motion import Setpoint
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.sim.physics import SimulatedRobot
from support.models.robots import ROOT

Array: TypeAlias = NDArray[np.float64]
Motion: TypeAlias = Callable[[float], tuple[Array, Array, Array]]

PANDA, UR5E = ROOT / 'urdf/panda_arm.urdf', ROOT / 'urdf/ur5e.urdf'
POSES = {
    PANDA: np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785]),
    UR5E: np.array([0.2, -1.2, 1.5, -1.9, -1.2, 0.3]),
}
TOOLS = {PANDA: 'fer_link8', UR5E: 'tool0'}

START = 100.0
"""Monotonic time of the first tick, s."""


def swing(pose: Array, amplitude: float, frequency: float, t: float) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration of joints that start to swing at rest."""
    w, a = 2.0 * np.pi * frequency, np.full(len(pose), amplitude)
    s, c = np.sin(w * t), np.cos(w * t)
    return pose + a * (1.0 - c), a * w * s, a * w * w * c


class ClosedLoop:
    """
    A simulated robot at 1 kHz under control; states are a step old when they count.

    :param path: URDF of both
    :param pose: where the robot starts, shape (n,), rad or m
    :param sense: called before every tick, to give sensors their readings
    :param simulation: further arguments of the simulation
    :param simulated: robot other than that of the URDF, started at the pose
    :param gravity: of the model, shape (3,), m/s^2
    :param settings: of the control, other than the defaults
    """

    def __init__(
        self, path: Path, pose: Array, *, simulation: dict[str, Any] | None = None,
        simulated: Any = None, sense: Callable[[ClosedLoop], object] | None = None,
        gravity: tuple[float, ...] = (0.0, 0.0, -9.81), **settings: Any,
    ) -> None:
        urdf = path.read_text(encoding='utf-8')
        self.simulated = simulated or SimulatedRobot(
            urdf, initial_positions=pose, **(simulation or {})
        )
        self.model = RobotModel.from_urdf(urdf, gravity=gravity)
        defaults: dict[str, Any] = {'joints': self.simulated.joint_names, 'rate': 1000.0}
        self.settings = Settings(**(defaults | settings))
        self.states = JointStateMonitor(self.model.joint_names)
        self.control = FeedforwardController(
            self.model, resolve(self.settings, self.model), self.states
        )
        self.sense = sense
        self.now = START
        self.positions: list[Array] = []
        self.run(0.1)

    @property
    def time(self) -> float:
        """The time since the start, s."""
        return self.now - START

    @property
    def q(self) -> Array:
        """Where the commanded joints are, rad or m."""
        return self.positions[-1]

    def change(self, **settings: Any) -> None:
        """Change settings while the control runs."""
        self.settings = Settings(**(vars(self.settings) | settings))
        self.control.change(resolve(self.settings, self.model))

    def run(self, duration: float, desired: Motion | None = None) -> None:
        """Go on for a time, s; ``desired``: the motion by the time since this call began."""
        began = self.now
        for _ in range(round(duration * self.settings.rate)):
            if desired is not None:
                motion = desired(self.now - began)
                self.control.follow(Setpoint(None, self.settings.joints, *motion), None)
            self.tick()

    def hold(self, pose: Array, duration: float) -> None:
        """Hold a pose of the commanded joints for a time, s: one set-point, at rest."""
        still = np.zeros_like(pose)
        self.control.follow(Setpoint(None, self.settings.joints, pose, still, still), None)
        self.run(duration)

    def tick(self) -> None:
        """Measure, compute, command, go on by a period of the control."""
        self.now += 1.0 / self.settings.rate
        names, measured = self.simulated.reported_joints, self.simulated.state()
        self.states.take_sample(
            names, measured.positions, measured.velocities, measured.efforts,
            stamp=self.now, clock=self.now, received=self.now,
        )
        if self.sense is not None:
            self.sense(self)
        command = self.control.step(self.now)
        self.positions.append(measured.positions[: len(self.settings.joints)])
        for _ in range(round(1000.0 / self.settings.rate)):
            self.simulated.step(command)

    def active(self) -> bool:
        """Return whether the control goes on."""
        return self.control.state in CONTROLLING
