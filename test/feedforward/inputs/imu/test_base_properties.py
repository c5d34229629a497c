# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever an IMU sends, and whenever: the base's motion is finite, bounded and without a step."""

import math
from typing import Any

import numpy as np

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.settings import BaseUse, StaleBase
from support.control.base_rig import CLOCK, BaseRig, tilting_robot

REJECTIONS = {
    Reason.UNKNOWN_FRAME, Reason.FRAME_CHANGED, Reason.PART_MISSING,
    Reason.NOT_UNIT_QUATERNION, Reason.NOT_FINITE, Reason.OVER_CAP, Reason.FREE_FALL,
    Reason.STAMP_IN_FUTURE, Reason.STAMP_NOT_NEWER,
}


class Inspected:
    """A sensor whose every sample is inspected."""

    def __init__(self, **settings: Any) -> None:
        self.rig = BaseRig(tilting_robot(gravity=(1.0, -2.0, -9.0)), **settings)
        self.last, self.sampled = np.concatenate(self.rig.sample()), self.rig.now
        self.message_came = False

    def sample(self) -> None:
        motion, chosen = np.concatenate(self.rig.sample()), self.rig.settings
        dt = self.rig.now - self.sampled
        g, w = math.hypot(1.0, -2.0, -9.0), chosen.max_angular_velocity
        alpha = 2.0 * w * math.tau * chosen.motion_cutoff
        r = math.hypot(0.3, 0.2, 0.6)
        bounds = np.array((g, w, 0.0, alpha, chosen.max_acceleration + g + r * (alpha + w * w)))
        assert np.isfinite(motion).all()
        assert (np.linalg.norm(motion.reshape(5, 3), axis=1) <= bounds * (1.0 + 1e-9)).all()
        if chosen.use is BaseUse.TILT:
            assert not motion[3:].any()
        # A blend of two vectors is steepest in its middle: 1.5 times their difference over fade.
        # A message that comes again moves nothing by itself: a blend begins where the motion is.
        blend = 2.0 * 1.5 / chosen.fade
        assert math.dist(motion[:3], self.last[:3]) <= (g * w + blend * g) * dt + 1e-9
        if not self.message_came:
            assert math.dist(motion[3:6], self.last[3:6]) <= blend * w * dt + 1e-9
        self.last, self.sampled, self.message_came = motion, self.rig.now, False


def chance_message(rng: np.random.Generator) -> dict[str, Any]:
    """Return a message: good mostly, or bad in one of the ways in which they are."""
    quaternion = rng.normal(size=4)
    message: dict[str, Any] = {
        'orientation': quaternion / np.linalg.norm(quaternion),
        'turn': rng.normal(scale=3.0, size=3), 'push': rng.normal(scale=10.0, size=3),
    }
    part = str(rng.choice(list(message)))
    kind = rng.random()
    if kind < 0.15:
        message[part] = None
    elif kind < 0.2:
        message[part] = message[part] * rng.choice([0.0, 0.01, 100.0, math.nan, math.inf, 1e300])
    elif kind < 0.25:
        message['frame_id'] = str(rng.choice(['base', 'plate', 'imu', 'arm', 'nothing', '']))
    elif kind < 0.35:
        message['stamp'] = float(rng.choice([0.0, CLOCK + rng.normal(scale=1e4)]))
    return message


def chance_settings(rng: np.random.Generator) -> dict[str, Any]:
    chances: dict[str, list[Any]] = {
        'use': [*BaseUse], 'stale': [*StaleBase], 'use_orientation': [True, True, False],
        'link': ['', 'base', 'imu'], 'max_acceleration': [20.0, 200.0],
        'max_angular_velocity': [2.0, 10.0], 'tilt_cutoff': [0.1, 10.0, 1000.0],
        'motion_cutoff': [1.0, 20.0, 1000.0], 'timeout': [0.005, 0.02, 0.1],
        'fade': [0.01, 0.1, 1.0],
    }
    return {name: values[rng.integers(len(values))] for name, values in chances.items()}


def test_random_messages_break_no_rule_of_the_base() -> None:
    rng, seen = np.random.default_rng(1), set[Reason]()
    with np.errstate(all='raise'):
        for _ in range(30):
            sensor, silent_until = Inspected(**chance_settings(rng)), -math.inf
            for _ in range(200):
                dt = rng.choice([0.0, 1e-4, 1e-3, 1e-2], p=[0.05, 0.2, 0.7, 0.05])
                sensor.rig.now += float(dt)
                if rng.random() < 0.02:
                    silent_until = sensor.rig.now + float(rng.exponential(0.1))
                if sensor.rig.now > silent_until and rng.random() < 0.4:
                    sensor.message_came |= sensor.rig.feed(**chance_message(rng)) is None
                sensor.sample()
            seen |= set(sensor.rig.sensor.imu.rejections)
    assert seen == REJECTIONS
