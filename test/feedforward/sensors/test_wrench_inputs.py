# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From readings to external forces and to the wrench that is published."""

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import BaseMotion
from rnea_ros.feedforward.settings import Measures, PublishFrame
from support.cases import each
from support.control.wrench_rig import INLINE, WEIGHT, Array, WrenchRig, arm
from support.models.oracles import random_state, random_tree
from support.models.robots import joint, link, load, robot

PUSH = (3.0, -4.0, 12.0)
TURN = (0.1, 0.2, 0.3)
ZERO = (0.0, 0.0, 0.0)
OTHER = {'name': 'other', 'topic': '/other', 'link': 'lower'}

SETTLED = 0.2
"""In so many seconds filter and fade of the rig's sensors are through, to 1e-9."""


def settled(rig: WrenchRig, force: ArrayLike = PUSH, torque: ArrayLike = TURN) -> Array:
    """Return what comes of a reading that stays."""
    wrench: Array = rig.run(SETTLED, force, torque)[-1]
    return wrench


def test_a_hand_that_lifts_the_tool_takes_load_off_the_joints() -> None:
    rig = WrenchRig(arm())
    assert not rig.efforts().any()
    settled(rig, (0.0, 0.0, 10.0), ZERO)
    # The arm lies along x: 10 N up at 1 m and at 0.5 m; what holds it is negative.
    np.testing.assert_allclose(rig.efforts(), [10.0, 5.0], rtol=1e-9)
    assert (arm().gravity_torques(np.zeros(2)) < 0.0).all()


def test_a_reading_of_what_the_robot_exerts_counts_with_the_other_sign() -> None:
    for measures, sign in zip(Measures, (1.0, -1.0), strict=True):
        wrench = settled(WrenchRig(arm(), {'measures': measures}))
        np.testing.assert_allclose(wrench, sign * np.array([*TURN, *PUSH]), rtol=1e-9)


@each('link', ['tool', ''])
def test_the_tool_of_an_inline_sensor_is_not_a_push(link: str) -> None:
    rig = WrenchRig(arm(), {'link': link, 'placement': INLINE})
    # Level, the tool's weight pulls the sensor down, its centre of mass straight above it.
    still = rig.run(SETTLED, (0.0, 0.0, -WEIGHT), frame='tool')[-1]
    np.testing.assert_allclose(still, 0.0, atol=1e-12)
    lifted = rig.run(SETTLED, (0.0, 0.0, 5.0 - WEIGHT), frame='tool')[-1]
    np.testing.assert_allclose(lifted, [0.0, 0.0, 0.0, 0.0, 0.0, 5.0], atol=1e-6)
    if not link:  # the frame of the readings says what the sensor carries
        rig.run(0.2, None)
        tip = rig.run(SETTLED, frame='tip')[-1]
        np.testing.assert_allclose(tip, 0.0, atol=1e-12)


@each('by_frame', [True, False])
@each('seed', [0, 3, 7])
def test_sensed_wrenches_change_the_efforts_by_minus_jacobian_transposed(
    seed: int, by_frame: bool
) -> None:
    rng = np.random.default_rng(seed)
    model = load(random_tree(seed))
    moving = [name for name in model.link_names if model.jacobian(np.zeros(model.nv), name).any()]
    links = rng.choice(moving, size=min(3, len(moving)), replace=False).tolist()
    rig = WrenchRig(model, *(
        {'name': link, 'topic': link, 'link': '' if by_frame else link, 'cutoff': 1000.0,
         'max_torque': 200.0}
        for link in links
    ))
    q, qd, _ = random_state(seed, model.nv)
    rig.q[:], rig.qd[:] = q, qd
    wrenches = {link: rng.normal(size=6) * 20.0 for link in links}
    for _ in range(100):
        rig.wait()
        for name, wrench in wrenches.items():
            lists = wrench[3:].tolist(), wrench[:3].tolist()
            assert rig.feed(*lists, name=name, frame=name) is None
        rig.step(0.0)
    expected = -sum(model.jacobian(q, name).T @ wrench for name, wrench in wrenches.items())
    largest = np.abs(expected).max()
    np.testing.assert_allclose(rig.efforts(), expected, rtol=0.0, atol=1e-12 * largest)


@each('periods', [0.01, 1.0, 1000.0])
def test_a_step_passes_as_through_two_equal_stages(periods: float) -> None:
    rig = WrenchRig(arm(), {'cutoff': 2.0, 'timeout': 10.0, 'tare_duration': 20.0})
    rig.run(0.2)  # faded in
    stage = math.sqrt(math.sqrt(2.0) - 1.0) / (2.0 * math.pi * 2.0)
    rng, began = np.random.default_rng(3), rig.now
    assert rig.feed((10.0, 0.0, 0.0), stamp=0.0) is None
    for _ in range(9):
        force = rig.step(periods * rng.uniform(0.5, 1.0))[3]  # irregular ticks
        s = (rig.now - began) / stage
        assert abs(force - 10.0 * (1.0 - math.exp(-s) * (1.0 + s))) < 1e-9
        assert abs(rig.step(0.0)[3] - force) < 1e-9  # a tick of no length changes nothing


@each('settings, force, torque, expected', [
    ({'deadband_force': 2.0}, (1.0, 1.0, 1.0), TURN, (*TURN, 0.0, 0.0, 0.0)),
    ({'deadband_force': 2.0}, (3.0, 0.0, -4.0), TURN, (*TURN, 1.8, 0.0, -2.4)),
    ({'deadband_torque': 2.0}, PUSH, (0.0, 4.0, -3.0), (0.0, 2.4, -1.8, *PUSH)),
    ({'deadband_torque': 2.0}, PUSH, (0.0, 1.2, -1.2), (0.0, 0.0, 0.0, *PUSH)),
    ({'gain': 0.25, 'deadband_force': 6.5}, PUSH, (4.0, 0.0, 0.0),
     (1.0, 0.0, 0.0, *(0.125 * np.array(PUSH)))),
    ({'gain': 0.0}, PUSH, TURN, (0.0,) * 6),
])
def test_magnitudes_lose_their_deadbands_and_the_rest_is_scaled(
    settings: dict[str, float], force: Sequence[float], torque: Sequence[float],
    expected: Sequence[float],
) -> None:
    wrench = settled(WrenchRig(arm(), settings), force, torque)
    np.testing.assert_allclose(wrench, expected, rtol=1e-7, atol=1e-9)


@each('caps, left', [
    ((100.0, 100.0), (3, 4, 0, 0, -6, 8)), ((1.0, 100.0), (0.6, 0.8, 0, 0, -6, 8)),
    ((100.0, 5.0), (3, 4, 0, 0, -3, 4)),
])
def test_a_cap_shortens_what_is_too_long(caps: tuple[float, float], left: Sequence[float]) -> None:
    rig = WrenchRig(arm(), dict(zip(('max_torque', 'max_force'), caps, strict=True)))
    rig.run(rig.period)
    rig.inputs.sensors['wrist'].tare.offset[:] = (-3.0, -4.0, 0.0, 0.0, 6.0, -8.0)
    np.testing.assert_allclose(settled(rig, ZERO, ZERO), left, rtol=1e-7)


def carried(rig: WrenchRig, qdd: ArrayLike) -> tuple[Sequence[float], Sequence[float]]:
    """Return what an in-line sensor reads of a motion without a push: force and torque."""
    load = arm().internal_wrench(rig.q, rig.qd, qdd, 'tool')
    return np.negative(load.force).tolist(), np.negative(load.torque).tolist()


def test_the_first_tick_of_a_moving_robot_has_no_acceleration() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE, 'cutoff': 1000.0, 'fade': 0.01})
    rig.qd[:] = (1.0, 0.0)
    np.testing.assert_allclose(rig.run(0.1, *carried(rig, ZERO[:2])), 0.0, atol=1e-9)


def test_the_load_of_a_tool_on_an_accelerating_lift_is_not_a_push() -> None:
    rising = arm().with_base_motion(BaseMotion(linear_acceleration=(0.0, 0.0, 2.0)))
    rig = WrenchRig(rising, {'placement': INLINE})
    np.testing.assert_allclose(settled(rig, (0.0, 0.0, -2.0 * 11.81), ZERO), 0.0, atol=1e-9)


def test_gravity_and_acceleration_of_the_base_change_the_load_without_a_step() -> None:
    rig = WrenchRig(arm(), {'placement': INLINE})
    before = settled(rig, (0.0, 0.0, 5.0 - WEIGHT), ZERO)
    lifted = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    rig.inputs.set_base(np.array([0.0, 0.0, -1.62]), np.zeros(6), lifted)
    after = rig.run(SETTLED, (0.0, 0.0, 5.0 - WEIGHT))
    assert np.linalg.norm(after[0] - before) < 0.5 * np.linalg.norm(after[-1] - before)
    np.testing.assert_allclose(after[-1][5], 5.0 - WEIGHT + 2.0 * (1.62 + 2.0), rtol=1e-6)


@each('bad', [math.nan, 1e12])
def test_an_impossible_motion_makes_only_the_inline_sensor_stale(bad: float) -> None:
    rig = WrenchRig(arm(), {'placement': INLINE}, OTHER)

    def run(seconds: float, qd: float) -> Any:
        rig.qd[:] = qd
        for _ in range(round(seconds / rig.period)):
            rig.wait()
            rig.feed((0.0, 0.0, 5.0 - WEIGHT))
            rig.feed(PUSH, name='other')
            wrench = rig.step(0.0)
            assert np.isfinite(wrench).all()
        return wrench

    run(SETTLED, 0.0)
    run(SETTLED, bad)
    assert rig.inputs.stale == ('wrist',)
    np.testing.assert_allclose(rig.inputs.sensors['other'].wrench[3:], PUSH, rtol=1e-6)
    np.testing.assert_allclose(run(SETTLED, 0.0)[5], 5.0, rtol=1e-6)
    run(0.001, 50.0)  # a glitch of a velocity is over with the filter
    assert abs(run(0.001, 0.0)[5]) < 20.0
    np.testing.assert_allclose(run(SETTLED, 0.0)[5], 5.0, rtol=1e-3)


def test_a_term_fades_in_out_after_its_timeout_and_in_from_where_it_was() -> None:
    rig = WrenchRig(arm(), {'fade': 0.1, 'timeout': 0.0205})
    assert rig.inputs.stale
    force = rig.run(0.150, PUSH)[:, 3:]
    np.testing.assert_allclose(force, np.outer(np.minimum(np.arange(150) / 100.0, 1.0), PUSH))
    np.testing.assert_allclose(rig.run(0.020, None)[:, 3:], [PUSH] * 20, rtol=1e-9)
    assert not rig.inputs.stale
    force = rig.run(0.050, None)[:, 3:]
    shares = 1.0 - np.arange(1, 51) / 100.0
    np.testing.assert_allclose(force, np.outer(shares, PUSH), atol=1e-9)
    assert rig.inputs.stale == ('wrist',)
    assert rig.inputs.stale
    back = rig.run(0.1, PUSH)
    np.testing.assert_allclose(back[9][3:], np.multiply(0.6, PUSH), rtol=1e-6)
    rig.run(0.2, None)
    assert not rig.efforts().any()


def test_a_long_gap_starts_the_filter_again_and_a_short_one_does_not() -> None:
    rig = WrenchRig(arm(), {'cutoff': 0.5})
    rig.run(3.0, (100.0, 0.0, 0.0))
    rig.run(0.2, None)
    np.testing.assert_allclose(rig.run(0.1, (0.0, 1.0, 0.0))[:, 3], 0.0, atol=1e-12)
    rig = WrenchRig(arm(), {'cutoff': 1.0, 'fade': 1.0})
    before = rig.run(3.0, (50.0, 0.0, 0.0))[-1]
    rig.run(0.05, None)
    assert (rig.run(0.01, (-50.0, 0.0, 0.0))[:, 3] > 0.75 * before[3]).all()


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
