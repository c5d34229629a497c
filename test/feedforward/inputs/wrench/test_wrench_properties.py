# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whatever comes in, in whatever order: wrenches stay finite, within their caps and without a step.

Two drive the sensors: chance, through long lives with gaps, faults, tares and wild motions, and
Hypothesis, with stories of its own making. Every step is inspected.
"""

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.settings import Measures
from support.control.wrench_rig import CONTACT, INLINE, Array, WrenchRig, arm

STEPS = 3_000
LINKS = ('upper', 'lower', 'tool', 'tip')


class Inspected(WrenchRig):
    """A rig with one sensor whose every step is looked at."""

    def step(self, periods: float = 1.0) -> Array:
        before, since = self.inputs.sensors['wrist'].wrench.copy(), self.last_step
        wrench = super().step(periods)
        self.last_step = self.now
        sensor = self.settings[0]
        assert np.isfinite(wrench).all()
        assert np.isfinite(self.efforts()).all()
        rounding = 1e-9
        allowed = self.greatest_change(max(self.now - since, 0.0))
        caps = (sensor.max_torque, sensor.max_force)
        for part, change, most in zip((slice(3), slice(3, 6)), allowed, caps, strict=True):
            assert np.linalg.norm(wrench[part] - before[part]) <= change + rounding
            assert np.linalg.norm(wrench[part]) <= sensor.gain * most + rounding
        return wrench

    last_step = -math.inf


def random_sensor(rng: np.random.Generator) -> dict[str, Any]:
    return {
        'link': str(rng.choice(['', '', 'tool', 'lower'])),
        'placement': (CONTACT, INLINE)[rng.integers(2)],
        'measures': tuple(Measures)[rng.integers(2)],
        'cutoff': float(rng.choice([0.5, 5.0, 50.0, 500.0])),
        'max_force': float(rng.choice([10.0, 100.0])),
        'max_torque': float(rng.choice([1.0, 20.0])),
        'deadband_force': float(rng.choice([0.0, 1.0])),
        'deadband_torque': float(rng.choice([0.0, 0.1])), 'gain': float(rng.choice([0.3, 1.0])),
        'timeout': float(rng.choice([0.005, 0.05])), 'fade': float(rng.choice([0.01, 0.1])),
    }


class Chance:
    """A sensor's life, with everything drawn at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rig = Inspected(arm(), random_sensor(self.rng), start=float(10 ** (seed % 7)))
        self.frame = 'tool'
        self.level = np.zeros(6)
        self.silent_until = -math.inf
        self.seen: set[object] = set()

    def live(self, steps: int) -> None:
        rng, rig = self.rng, self.rig
        for _ in range(steps):
            self._move()
            rig.wait(float(rng.choice([0.0, 1.0, 1.3, 40.0], p=[0.02, 0.67, 0.3, 0.01])))
            if rng.random() < 0.001:
                rig.wait(-3.0)
            if rng.random() < 0.003:
                self.silent_until = rig.now + rng.exponential(0.1)
            if rng.random() < 0.003:
                rig.inputs.tare(rig.now)
            if rng.random() < 0.0005:
                rig.inputs.set_base(rng.normal(scale=10.0, size=3), np.zeros(6), np.zeros(6))
            if rig.now > self.silent_until and rng.random() < 0.9:
                self._read()
            if rig.step(0.0).any():
                self.seen.add('wrench')
            self.seen |= {*rig.inputs.flags, *rig.inputs.rejections}
            self.seen |= set(rig.inputs.tare_rejections.values())

    def _move(self) -> None:
        rig, rng = self.rig, self.rng
        rig.qd += rng.normal(scale=0.02, size=2)
        rig.qd *= 0.99
        if rng.random() < 0.4 and (np.abs(rig.qd) < 100.0).all():
            rig.q += 0.001 * rig.qd
        if rng.random() < 0.002:
            rig.qd[:] = rng.choice([0.0, 30.0, -1e6, 1e160, math.nan, math.inf])
        elif not (np.abs(rig.qd) < 100.0).all():
            rig.qd[:] = 0.0

    def _read(self) -> None:
        rig, rng = self.rig, self.rng
        if rng.random() < 0.01:
            self.level = rng.normal(scale=1.0, size=6) * rng.choice([0.0, 0.5, 3.0, 30.0])
        if rng.random() < 0.002:
            self.frame = str(rng.choice([*LINKS, 'nose', '']))
        numbers = (self.level + rng.normal(scale=0.1, size=6)).tolist()
        stamp = rig.now
        if rng.random() < 0.02:
            numbers[rng.integers(6)] = float(rng.choice([math.nan, -math.inf, 1e3, 1e308]))
        if rng.random() < 0.02:
            stamp += float(rng.choice([-1.0, 1.0, 0.005]))
        rig.feed(numbers[:3], numbers[3:], frame=self.frame, stamp=stamp)


def test_a_wrench_is_always_finite_within_its_cap_and_without_steps() -> None:
    seen: set[object] = set()
    for seed in range(8):
        chance = Chance(seed)
        chance.live(STEPS)
        seen |= chance.seen
    # Chance has met everything.
    assert seen >= {
        'wrench', Reason.WRENCH_STALE, Reason.TARE_UNSTEADY, Reason.NOT_FINITE,
        Reason.OVER_CAP, Reason.STAMP_IN_FUTURE, Reason.STAMP_NOT_NEWER, Reason.UNKNOWN_FRAME,
        Reason.FRAME_CHANGED,
    }


NUMBER = st.floats(allow_nan=True, allow_infinity=True)
EVENT = st.one_of(
    st.tuples(st.just('read'), st.lists(NUMBER, min_size=6, max_size=6), st.sampled_from(LINKS)),
    st.tuples(st.just('read'), st.lists(st.floats(-5.0, 5.0), min_size=6, max_size=6),
              st.just('tool')),
    st.tuples(st.just('move'), st.lists(NUMBER, min_size=2, max_size=2), st.just('')),
    st.tuples(st.just('wait'), st.floats(0.0, 200.0), st.just('')),
    st.tuples(st.just('tare'), st.none(), st.just('')),
)


@settings(max_examples=200)
@given(seed=st.integers(0, 1000), events=st.lists(EVENT, max_size=60))
def test_random_readings_break_no_rule(seed: int, events: list[tuple[str, Any, str]]) -> None:
    rig = Inspected(arm(), random_sensor(np.random.default_rng(seed)))
    for what, how, frame in events:
        if what == 'read':
            rig.feed(how[:3], how[3:], frame=frame)
        elif what == 'move':
            rig.qd[:] = how
        elif what == 'wait':
            rig.step(how)
        else:
            rig.inputs.tare(rig.now)
        rig.step()


@settings(max_examples=100)
@given(
    first=st.lists(st.floats(-100.0, 100.0), min_size=3, max_size=3),
    second=st.lists(st.floats(-100.0, 100.0), min_size=3, max_size=3), band=st.floats(0.0, 50.0),
)
def test_a_deadband_brings_no_two_wrenches_further_apart(
    first: list[float], second: list[float], band: float
) -> None:
    passed = []
    for force in (first, second):
        rig = WrenchRig(arm(), {
            'deadband_force': band, 'fade': 0.01, 'max_force': 1000.0, 'cutoff': 1000.0,
        })
        passed.append(rig.run(0.05, force)[-1][3:])
    apart = np.linalg.norm(np.subtract(first, second))
    assert np.linalg.norm(passed[0] - passed[1]) <= apart + 1e-6
