# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads, external forces and the motion of the base."""

from __future__ import annotations

from ..robot import RobotModel
from .base_imu import BaseSensor
from .law import LoadedModel, PayloadBlend
from .reasons import Reason
from .settings import Settings
from .wrench import WrenchInputs


class Environment:
    """
    Updates the robot's dynamics with payloads and sensors.

    :ivar robot: the robot with its payloads, on its base
    :ivar wrenches: the force-torque sensors
    :ivar base: the IMU on the base, None for no IMU
    :ivar payloads: the blend of payloads
    """

    def __init__(self, model: RobotModel, settings: Settings) -> None:
        self.robot = LoadedModel(
            model, settings.hardware_compensates, settings.own_hardware_gravity
        )
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

    def advance(self, now: float, dt: float) -> None:
        """Advance payloads and base; once a tick."""
        self.payloads.advance(dt)
        if self.base is not None:
            motion = self.base.advance(now)
            self.robot.set_base(*motion)
            self.wrenches.set_base(*motion)
