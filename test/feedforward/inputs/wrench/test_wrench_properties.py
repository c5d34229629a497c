# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Through random lives of a sensor, wrenches stay finite, within their caps and without a step."""

import math
from typing import Any

import numpy as np

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.settings import Measures
from support.control.wrench_rig import CONTACT, INLINE, Array, WrenchRig, arm


class Inspected(WrenchRig):
    """A rig with one sensor whose every step is inspected."""

    last_step = -math.inf

    def step(self, periods: float = 1.0) -> Array:
        before, since = self.inputs.sensors['wrist'].wrench.copy(), self.last_step
        wrench = super().step(periods)
        self.last_step = self.now
        sensor = self.settings[0]
        assert np.isfinite(wrench).all()
        assert np.isfinite(self.efforts()).all()
        allowed = self.greatest_change(max(self.now - since, 0.0))
        caps = (sensor.max_torque, sensor.max_force)
        for part, change, most in zip((slice(3), slice(3, 6)), allowed, caps, strict=True):
            assert math.dist(wrench[part], before[part]) <= change + 1e-9
            assert math.hypot(*wrench[part]) <= sensor.gain * most + 1e-9
        return wrench


def random_sensor(rng: np.random.Generator) -> dict[str, Any]:
    chances: dict[str, list[Any]] = {
        'link': ['', '', 'tool', 'lower'], 'placement': [CONTACT, INLINE],
        'measures': [*Measures], 'cutoff': [0.5, 5.0, 50.0, 500.0], 'max_force': [10.0, 100.0],
        'max_torque': [1.0, 20.0], 'deadband_force': [0.0, 1.0], 'deadband_torque': [0.0, 0.1],
        'gain': [0.3, 1.0], 'timeout': [0.005, 0.05], 'fade': [0.01, 0.1],
    }
    return {name: values[rng.integers(len(values))] for name, values in chances.items()}


class Life:
    """A sensor's life, with everything drawn at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rig = Inspected(arm(), random_sensor(self.rng), start=float(10 ** (seed % 7)))
        self.frame, self.level, self.silent_until = 'tool', np.zeros(6), -math.inf
        self.seen: set[object] = set()

    def live(self, steps: int) -> None:
        rng, rig = self.rng, self.rig
        for _ in range(steps):
            rig.wait(float(rng.choice([0.0, 1.0, 1.3, 40.0], p=[0.02, 0.67, 0.3, 0.01])))
            rig.qd[:] = 0.99 * np.nan_to_num(rig.qd) + rng.normal(scale=0.02, size=2)
            rig.qd[:] *= np.abs(rig.qd) < 100.0
            rig.q += 0.001 * rig.qd * (rng.random() < 0.4)
            event = rng.random()
            if event < 0.002:
                rig.wait(-3.0)
            elif event < 0.008:
                self.silent_until = rig.now + rng.exponential(0.1)
            elif event < 0.014:
                rig.inputs.tare(rig.now)
            elif event < 0.015:
                rig.inputs.set_base(rng.normal(scale=10.0, size=3), np.zeros(6), np.zeros(6))
            elif event < 0.019:
                rig.qd[:] = rng.choice([0.0, 30.0, -1e6, 1e160, math.nan, math.inf])
            if rig.now > self.silent_until and rng.random() < 0.9:
                self._read()
            if rig.step(0.0).any():
                self.seen.add('wrench')
            self.seen |= {*rig.inputs.flags, *rig.inputs.tare_rejections.values()}
        self.seen |= {*rig.inputs.rejections}

    def _read(self) -> None:
        rng, event = self.rng, self.rng.random()
        if event < 0.01:
            self.level = rng.normal(scale=1.0, size=6) * rng.choice([0.0, 0.5, 3.0, 30.0])
        elif event < 0.025:
            self.frame = str(rng.choice(['upper', 'lower', 'tool', 'tip', 'nose', '']))
        numbers, stamp = (self.level + rng.normal(scale=0.1, size=6)).tolist(), self.rig.now
        if event > 0.98:
            numbers[rng.integers(6)] = float(rng.choice([math.nan, -math.inf, 1e3, 1e308]))
        elif event > 0.96:
            stamp += float(rng.choice([-1.0, 1.0, 0.005]))
        self.rig.feed(numbers[:3], numbers[3:], frame=self.frame, stamp=stamp)


def test_a_wrench_is_always_finite_within_its_cap_and_without_steps() -> None:
    seen: set[object] = set()
    for seed in range(16):
        life = Life(seed)
        life.live(500)
        seen |= life.seen
    assert seen >= {
        'wrench', Reason.WRENCH_STALE, Reason.TARE_UNSTEADY, Reason.NOT_FINITE,
        Reason.OVER_CAP, Reason.STAMP_IN_FUTURE, Reason.STAMP_NOT_NEWER, Reason.UNKNOWN_FRAME,
        Reason.FRAME_CHANGED,
    }
