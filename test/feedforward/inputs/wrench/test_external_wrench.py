# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The wrench that is published: a reading without the tool, without the offset, in a chosen frame.

Pinocchio moves the arm; the tool's weight and inertial force are written out from its frame's
motion (Newton and Euler): f = m (a_c - g), n = J_c w' + w x J_c w about the centre of mass c.
"""

from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.settings import PublishFrame
from support.cases import each
from support.control.wrench_rig import INLINE, Array, WrenchRig, arm
from support.models.robots import joint, link, load, robot

MASS, COM = 1.7, np.array([0.05, -0.02, 0.1])
INERTIA = np.array([[0.02, 0.001, -0.002], [0.001, 0.025, 0.003], [-0.002, 0.003, 0.01]])
ARM = robot(
    link('base'), link('upper', 2.0, com=(0.25, 0.0, 0.0)),
    link('lower', 1.0, com=(0.2, 0.05, 0.0)), link('wrist', 0.4, com=(0.0, 0.0, 0.05)),
    link('tool', MASS, COM, (0.02, 0.001, -0.002, 0.025, 0.003, 0.01)),
    joint('shoulder', 'continuous', 'base', 'upper', axis=(0, 1, 0)),
    joint('elbow', 'continuous', 'upper', 'lower', xyz=(0.5, 0, 0), axis=(0.6, 0.8, 0)),
    joint('turn', 'continuous', 'lower', 'wrist', xyz=(0.4, 0, 0), axis=(0, 0, 1)),
    joint('mount', 'fixed', 'wrist', 'tool', xyz=(0.0, 0.1, 0.2), rpy=(0.2, 0.4, 0.6)),
)
GRAVITY = np.array([0.0, 0.0, -9.81])
APPLIED = np.array([0.4, -0.2, 0.3, 12.0, -15.0, 8.0])
"""[torque; force] of the environment on the tool, about and in the sensor's frame."""

BIAS = np.array([0.2, 0.1, -0.3, 7.0, -3.0, 2.0])


class PinocchioArm:
    """The arm in Pinocchio."""

    def __init__(self) -> None:
        self._pinocchio: Any = pytest.importorskip('pinocchio', reason='the oracle is pinocchio')
        self._model = self._pinocchio.buildModelFromXML(ARM)
        self._data = self._model.createData()
        self._frame = self._model.getFrameId('tool')

    def pose(self) -> Any:
        """Return the pose of the sensor's frame in the last motion."""
        return self._data.oMf[self._frame]

    def load(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return [torque; force] that moves and carries the tool, in the sensor's frame."""
        pin, model, data = self._pinocchio, self._model, self._data
        coordinates = np.column_stack([np.cos(q), np.sin(q)]).ravel()  # of continuous joints
        pin.forwardKinematics(model, data, coordinates, qd, qdd)
        pin.updateFramePlacements(model, data)
        motion = (model, data, self._frame, pin.ReferenceFrame.LOCAL)
        w = pin.getFrameVelocity(*motion).angular
        acceleration = pin.getFrameClassicalAcceleration(*motion)
        wd = acceleration.angular
        com_acceleration = acceleration.linear + np.cross(wd, COM) + np.cross(w, np.cross(w, COM))
        force = MASS * (com_acceleration - self.pose().rotation.T @ GRAVITY)
        moment = INERTIA @ wd + np.cross(w, INERTIA @ w)
        return np.concatenate([moment + np.cross(COM, force), force])


class Measured(WrenchRig):
    """An in-line sensor with an offset, on the arm that Pinocchio moves, tared."""

    def __init__(self, **settings: Any) -> None:
        defaults = {'placement': INLINE, 'deadband_force': 3.0, 'gain': 0.1}
        super().__init__(load(ARM), defaults | settings)
        self.oracle = PinocchioArm()
        self.q[:] = (0.3, -0.5, 0.1)
        self.sense(REST, 0.0 * APPLIED)
        self.inputs.tare(self.now)
        self.sense(REST, 0.0 * APPLIED, 0.3)
        assert not self.inputs.tare_rejections

    def sense(self, qdd: Array, applied: Array, seconds: float = 0.15) -> None:
        """Move with a constant acceleration, under a constant wrench on the tool."""
        for _ in range(round(seconds / self.period)):
            self.wait()
            self.q += self.period * (self.qd + 0.5 * self.period * qdd)
            self.qd += self.period * qdd
            reading = applied + BIAS - self.oracle.load(self.q, self.qd, qdd)
            assert self.feed(reading[3:].tolist(), reading[:3].tolist()) is None
            self.step(0.0)


REST = np.zeros(3)


@pytest.mark.oracle
@each('q, qdd, frame', [
    ((0.7, -1.2, 2.0), REST, PublishFrame.SENSOR),
    ((-2.0, 0.4, -0.8), np.array([8.0, -12.0, 20.0]), PublishFrame.SENSOR),
    ((0.3, -0.5, 0.1), np.array([8.0, -12.0, 20.0]), PublishFrame.BASE),
])
def test_minus_tool_load_and_offset_the_applied_wrench_is_left(
    q: tuple[float, ...], qdd: Array, frame: PublishFrame
) -> None:
    rig = Measured(publish_frame=frame)
    rig.q[:] = q
    rig.sense(qdd, APPLIED, 0.25)
    measured = rig.inputs.external_wrench('wrist', rig.now)
    assert measured is not None
    name, wrench = measured
    expected = APPLIED
    if frame is PublishFrame.BASE:
        pose = rig.oracle.pose()
        force = pose.rotation @ APPLIED[3:]
        moment = pose.rotation @ APPLIED[:3] + np.cross(pose.translation, force)
        expected = np.concatenate([moment, force])
    assert name == ('tool' if frame is PublishFrame.SENSOR else 'base')
    np.testing.assert_allclose(wrench, expected, rtol=0.0, atol=1e-9)


@each('link', ['tool', ''])
def test_no_wrench_without_readings_or_of_another_tick(link: str) -> None:
    rig = WrenchRig(arm(), {'link': link})
    assert rig.inputs.external_wrench('wrist', rig.now) is None
    rig.run(0.1, (1.0, 2.0, 3.0), frame='tip')
    measured = rig.inputs.external_wrench('wrist', rig.now)
    assert measured is not None
    assert measured[0] == (link or 'tip')
    np.testing.assert_allclose(measured[1], [0, 0, 0, 1, 2, 3], atol=1e-9)
    assert rig.inputs.external_wrench('wrist', rig.now + rig.period) is None
    rig.run(0.1, None)
    assert rig.inputs.external_wrench('wrist', rig.now) is None
