# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""References of a trajectory controller: set-points made of them, and rejections."""

from dataclasses import replace
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rnea_ros.feedforward.laws import Feedforward, Gravity
from rnea_ros.feedforward.motion import ControllerStateMonitor, JointRules, Setpoint, SpeedScaling
from support.cases import each
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, setpoint

JOINTS = ('lift', 'turn', 'bend')
NONE = np.empty(0)
Q, ZERO = (0.0, 0.5, 1.0), [0.0] * 3
NAN, INF = math.nan, math.inf
CLOCK = 5000.0
"""The clock of stamps, less monotonic time, s."""


class Bench:
    """A monitor, and a robot at rest in the middle of its range, with a time that advances."""

    def __init__(self, **rules: Any) -> None:
        joint_values: dict[str, Any] = {
            'joint_names': JOINTS, 'lower': np.array([-1.0, 0.0, -2.0]),
            'upper': np.array([1.0, 0.0, 2.0]), 'continuous': np.array([False, True, False]),
            'velocity_limits': np.array([1.0, 2.0, 3.0]), 'start_tolerance': 0.1,
        }
        self.scaling = SpeedScaling()
        self.monitor = ControllerStateMonitor(JointRules(**(joint_values | rules)), self.scaling)
        self.measured = np.array([0.0, 0.5, 1.0])
        self.held: Array | None = None
        self.now = 10.0

    def say(
        self, q: ArrayLike = (0.01, 0.5, 1.0), qd: ArrayLike = NONE, qdd: ArrayLike = NONE, *,
        names: tuple[str, ...] = JOINTS, speed: float | None = 1.0, stamp: float | None = None,
    ) -> Setpoint | None:
        """Publish a reference of the controller, 10 ms after the last one."""
        self.now += 0.01
        motion = [np.asarray(values, dtype=np.float64) for values in (q, qd, qdd)]
        return self.monitor.take_sample(
            names, motion[0], motion[1], motion[2], speed,
            stamp=CLOCK + self.now if stamp is None else stamp, clock=CLOCK + self.now,
            received=self.now, measured=self.measured,
            held=lambda: self.measured if self.held is None else self.held,
        )

    def taken(self, *args: Any, **kwargs: Any) -> Setpoint:
        setpoint = self.say(*args, **kwargs)
        assert setpoint is not None, self.monitor.complaint
        return setpoint

    def rejected(self, reason: str, *args: Any, **kwargs: Any) -> str:
        """Return the complaint about a reference that must be rejected."""
        before, received = self.monitor.rejections[reason], self.monitor.age(0.0)
        assert self.say(*args, **kwargs) is None
        assert self.monitor.rejections[reason] == before + 1, self.monitor.complaint
        assert self.monitor.age(0.0) == received
        return self.monitor.complaint


def test_the_age_is_infinite_before_the_first_reference() -> None:
    assert Bench().monitor.age(10.0) == INF


def test_the_commanded_joints_values_are_taken_by_name() -> None:
    motion = (1.05, 0.02, NAN, 0.51), (0.3, 0.1, 9.0, 0.2), (6.0, 4.0, 9.0, 5.0)
    setpoint = Bench().taken(*motion, names=('bend', 'lift', 'jaw', 'turn'))
    assert setpoint.q.tolist() == [0.02, 0.51, 1.05]
    assert setpoint.qd.tolist() == [0.1, 0.2, 0.3]
    assert setpoint.qdd.tolist() == [4.0, 5.0, 6.0]


def test_velocities_scale_by_the_factor_and_accelerations_by_its_square() -> None:
    bench = Bench()
    setpoint = bench.taken(qd=(0.4, 0.8, 1.2), qdd=(1.0, 2.0, 3.0), speed=0.5)
    assert setpoint.qd.tolist() == [0.2, 0.4, 0.6]
    assert setpoint.qdd.tolist() == [0.25, 0.5, 0.75]
    # Missing accelerations and velocities are zero.
    assert bench.taken((0.02, 0.5, 1.0), (0.4, 0.8, 1.2)).qdd.tolist() == ZERO
    assert bench.taken((0.03, 0.5, 1.0)).qd.tolist() == ZERO
    # After a positive factor zero means zero.
    setpoint = bench.taken((0.04, 0.5, 1.0), (0.1, 0.0, 0.0), (5.0, 0.0, 0.0), speed=0.0)
    assert setpoint.qd.tolist() == setpoint.qdd.tolist() == ZERO
    assert bench.monitor.speed == 0.0


def test_a_reference_that_stands_still_has_no_velocity_and_no_acceleration() -> None:
    bench, moving = Bench(), {'qd': (0.1,) * 3, 'qdd': (2.0,) * 3}
    for q in ((0.01, 0.5, 1.0), (0.01, 0.5, 1.01)):
        assert bench.taken(q, **moving).qdd.tolist() == [2.0] * 3
        bench.rejected('start_too_far', (0.5, 0.5, 1.0), **moving, stamp=0.0)
        for _ in range(2):
            held = bench.taken(q, **moving)
            assert held.q.tolist() == [*q]
            assert held.qd.tolist() == held.qdd.tolist() == ZERO


def test_without_a_published_factor_the_speed_scaling_topic_counts() -> None:
    bench = Bench()
    bench.scaling.advance(0.0)
    bench.scaling.set_target(0.8)
    bench.scaling.advance(0.05)  # on its way: 0.9, and falling by 2 per second
    for q, speed in ((0.0, None), (0.01, 0.0)):
        setpoint = bench.taken((q, 0.5, 1.0), (0.1, 0.2, 0.4), (1.0, 0.0, 0.0), speed=speed)
        np.testing.assert_allclose(setpoint.qd, [0.09, 0.18, 0.36])
        np.testing.assert_allclose(setpoint.qdd, [0.81 - 0.2, -0.4, -0.8])


def test_missing_joints_hold_their_desired_position_if_allowed() -> None:
    bench = Bench(allow_partial_joints_goal=True)
    bench.held = np.array([0.0, 0.53, 0.0])
    setpoint = bench.taken((1.05, 0.02), (0.3, 0.1), names=('bend', 'lift'))
    assert setpoint.q.tolist() == [0.02, 0.53, 1.05]
    assert setpoint.qd.tolist() == [0.1, 0.0, 0.3]


@each('reason, words, given', [
    ('missing_joint', "'lift'", {'q': Q, 'names': ('a', 'turn', 'bend')}),
    ('duplicate_joint', "'lift'", {'q': Q, 'names': ('lift', 'turn', 'lift')}),
    ('unknown_joint', '', {'q': Q, 'names': ('a', 'b', 'c')}),
    ('empty_joint_names', '', {'q': NONE, 'names': ()}),
    ('wrong_size', 'for 3 joints', {'q': NONE, 'qd': ZERO}),
    ('wrong_size', 'for 3 joints', {'q': Q, 'qd': ZERO, 'qdd': (0.0,) * 4}),
    ('not_finite', "'bend': positions nan", {'q': (0.0, 0.5, NAN)}),
    ('not_finite', "'turn': accelerations inf", {'q': Q, 'qd': ZERO, 'qdd': (0.0, INF, 0.0)}),
    ('accelerations_without_velocities', '', {'q': Q, 'qdd': ZERO}),
    ('speed_out_of_range', '-0.1', {'speed': -0.1}), ('speed_out_of_range', 'inf', {'speed': INF}),
    ('stamp_not_newer', '', {'stamp': CLOCK + 10.01}),
    ('stamp_in_future', '', {'stamp': CLOCK + 11.0}),
    ('position_limit', "'lift': 1.002 is not in [-1.0, 1.0]", {'q': (1.002, 0.5, 1.0)}),
    ('velocity_limit', "'lift'", {'q': Q, 'qd': (1.06, 0.0, 0.0)}),
    ('start_too_far', "'bend'", {'q': (0.0, 0.5, 1.11)}),
    ('start_too_far', "'turn'", {'q': (0.0, 0.7 + 4.0 * math.pi, 1.0)}),
])
def test_a_reference_with_a_fault_is_rejected_and_the_fault_named(
    reason: str, words: str, given: dict[str, Any]
) -> None:
    bench = Bench()
    bench.taken()
    assert words in bench.rejected(reason, **given)


@each('measured, q, given', [
    (0.98, (1.0005, 0.5, 1.0), {'qd': (1.04, 0.0, 0.0)}),  # by 1 mrad and 5 % beyond
    (0.0, (0.0, 0.5, 1.09), {'stamp': 0.0}),
    (1.05, (1.04, 0.5, 1.0), {}),  # back from nearby
    (0.0, (0.0, 0.5 + 4.0 * math.pi, 1.0), {}),  # whole turns of a continuous joint
])
def test_a_reference_at_a_limit_is_accepted(
    measured: float, q: tuple[float, ...], given: dict[str, Any]
) -> None:
    bench = Bench()
    bench.measured[0] = measured
    assert bench.taken(q, **given).q.tolist() == [*q]


@each('huge', [10.1, 1e308, -1e308])
def test_accelerations_are_bounded(huge: float) -> None:
    bench = Bench(acceleration_limits=np.full(3, 10.0), velocity_limits=np.full(3, 1e3))
    bench.taken((0.02, 0.5, 1.0), ZERO, (0.0, 9.9, 0.0))
    bench.rejected('acceleration_limit', qd=ZERO, qdd=(0.0, huge, 0.0))
    bench.rejected('velocity_limit', qd=(1e308, 0.0, 0.0), qdd=(huge, 0.0, 0.0), speed=1e300)


def test_the_controller_blends_in_a_reference_whose_speed_is_stated() -> None:
    rig = Rig(
        panda_arm(), q=PANDA_POSE, mode=Feedforward, ramp_duration=0.1, effort_rate_limit=(1e5,),
        joint_states_timeout=10.0,  # the arm stands still
    )
    rig.activate()
    rig.controller.speed_scaling.set_target(0.5)  # of the topic, and not used
    gravity = rig.run(0.3)[-1]
    point = replace(setpoint(rig.model.joint_names, PANDA_POSE, 0.1), from_controller=True)
    point.qdd[:] = 2.0
    commands: list[Any] = []
    for _ in range(200):
        rig.controller.set_reference(point)
        commands.append(rig.tick())
    expected = rig.model.inverse_dynamics(point.q, point.qd, point.qdd)
    assert np.abs(commands[0] - gravity).max() < 0.05 * np.abs(expected - gravity).max()
    np.testing.assert_allclose(commands[-1], expected, atol=1e-9)
    rig.change(mode=Gravity)
    rig.run(0.2)
    rig.controller.set_reference(point)
    assert rig.controller.motions.reference_at(rig.now) is None
