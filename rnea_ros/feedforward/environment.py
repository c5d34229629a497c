# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads, external forces and the motion of the base."""

from __future__ import annotations

from ..arrays import Array
from ..robot import RobotModel
from .inputs.imu import BaseSensor
from .inputs.wrench import WrenchInputs
from .law import LoadedModel, PayloadBlend
from .reasons import Reason
from .settings import Settings


class Environment:
    """
    Updates the robot's dynamics with payloads and sensors.

    :param model: the robot
    :param settings: checked settings
    :ivar robot: the robot with its payloads, on its base
    :ivar wrenches: the force-torque sensors
    :ivar base: the IMU on the base, None for no IMU
    :ivar payloads: the blend of payloads
    """

    def __init__(self, model: RobotModel, settings: Settings) -> None:
        self.robot = LoadedModel(model, settings.hardware_compensates)
        self.wrenches = WrenchInputs(model, settings.wrench_inputs)
        sensor = settings.base_sensor
        self.base = None if sensor is None else BaseSensor(model, sensor)
        self.payloads = PayloadBlend(
            (self.robot.loaded_bodies, *self.wrenches.loaded_bodies), settings.payloads
        )

    @property
    def flags(self) -> frozenset[Reason]:
        """Flags of the sensors."""
        flags = self.wrenches.flags
        return flags | {Reason.BASE_STALE} if self.base is not None and self.base.stale else flags

    def step(self, now: float, dt: float) -> None:
        """
        Update payloads and base; once a tick.

        :param now: monotonic time, s
        :param dt: time since the last tick, s
        """
        self.payloads.advance(dt)
        if self.base is not None:
            motion = self.base.sample(now)
            self.robot.set_base(*motion)
            self.wrenches.set_base(*motion)

    def external(self, now: float, q: Array, qd: Array) -> Array | None:
        """
        Return -J^T f for the measured external forces, None without sensors; once a tick.

        :param now: monotonic time, s
        :param q: measured joint positions, shape (n,), rad or m
        :param qd: measured joint velocities, shape (n,), rad/s or m/s
        :return: shape (n,), N m or N; the next call overwrites it
        """
        if not self.wrenches.settings:
            return None
        self.wrenches.step(now, q, qd)
        return self.wrenches.efforts(q)
