# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A push on the tool of a real-looking arm in fast motion, separated from the tool's own load.

The arm is simulated under joint control with friction. Sensor and joint states have noise, steps
and delays.
"""

from functools import cache
import math
from typing import Any, NamedTuple

import numpy as np

from rnea_ros import RobotModel, Wrench
from support.cases import each
from support.control.control_rig import PANDA_POSE
from support.control.wrench_rig import INLINE, Array, WrenchRig
from support.models.robots import ROOT, joint, link, load

STEP = 0.0005
DURATION = 2.0
PUSHED_FROM = 1.0

PUSH = Wrench((12.0, -15.0, 8.0), (0.3, -0.2, 0.1))
"""20.8 N at the tip."""

@cache
def tooled_arm() -> RobotModel:
    """Return the seven-joint arm with a tool of 2 kg, turned and off its axis."""
    text = (ROOT / 'urdf' / 'panda_arm.urdf').read_text(encoding='utf-8')
    last = load(text).link_names[-1]
    tool = link('tool', 2.0, (0.03, 0.02, 0.1), (0.01, 0.0, 0.0, 0.012, 0.0, 0.008))
    parts = (
        tool, link('tip'),
        joint('mount', 'fixed', last, 'tool', xyz=(0, 0, 0.05), rpy=(0.3, 0.2, 0.5)),
        joint('end', 'fixed', 'tool', 'tip', xyz=(0, 0.05, 0.2)),
    )
    return load(text.replace('</robot>', ''.join(parts) + '</robot>'))


def desired(t: float) -> tuple[Array, Array, Array]:
    """Return two sines a joint, at 0.5 and 1.3 Hz, to 2 rad/s and 10 to 20 rad/s^2."""
    q, qd, qdd = np.array([PANDA_POSE, np.zeros(7), np.zeros(7)])
    rng = np.random.default_rng(1)
    for frequency, least, greatest in ((0.5, 0.2, 0.4), (1.3, 0.05, 0.12)):
        w, size = 2.0 * math.pi * frequency, rng.uniform(least, greatest, 7)
        angle = w * t + rng.uniform(0.0, 6.0, 7)
        q += size * np.sin(angle)
        qd += size * w * np.cos(angle)
        qdd -= size * w * w * np.sin(angle)
    return q, qd, qdd


class Sample(NamedTuple):
    """The arm at a time: motion, and what its sensor carries, [torque; force]."""

    q: Array
    qd: Array
    carried: Array


@cache
def simulated() -> list[Sample]:
    """Return the arm's motion in steps of :data:`STEP`, pushed from half time on."""
    model = tooled_arm()
    kp: Array = np.array([600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0])
    kd = np.array([30.0, 30.0, 30.0, 30.0, 18.0, 15.0, 9.0])
    q, qd, _ = desired(0.0)
    samples = []
    for k in range(round(DURATION / STEP)):
        q_d, qd_d, qdd_d = desired(k * STEP)
        push = {'tip': PUSH} if k * STEP >= PUSHED_FROM else {}
        tau = model.inverse_dynamics(q_d, qd_d, qdd_d) + kp * (q_d - q) + kd * (qd_d - qd)
        qdd = model.forward_dynamics(q, qd, tau - 2.0 * np.tanh(qd / 0.05), push)
        load = model.internal_wrench(q, qd, qdd, 'tool', push)
        samples.append(Sample(q, qd, np.concatenate([load.torque, load.force])))
        qd = qd + STEP * qdd
        q = q + STEP * qd
    return samples


def sensed(
    *, rate: float = 500.0, jitter: float = 0.0, every: int = 1, **settings: Any
) -> tuple[Array, Array]:
    """
    Return times and wrenches that a sensor finds in the simulated motion.

    :param rate: of ticks, Hz
    :param jitter: of ticks, share of their period
    :param every: ticks from one reading to the next
    :param settings: of the sensor
    """
    rng = np.random.default_rng(0)
    samples = simulated()
    rig = WrenchRig(tooled_arm(), {'placement': INLINE, 'cutoff': 20.0} | settings, start=0.01)
    rig.period = 1.0 / rate
    times: list[float] = []
    wrenches: list[Array] = []
    while rig.now < DURATION - 2.0 * rig.period:
        rig.wait(1.0 + jitter * rng.uniform(-1.0, 1.0))
        state = samples[round((rig.now - 0.002) / STEP)]
        rig.q[:] = 1e-5 * np.round(state.q / 1e-5)
        rig.qd[:] = 1e-3 * np.round(state.qd / 1e-3)
        if len(times) % every == 0:
            reading = -samples[round((rig.now - 0.001) / STEP)].carried
            torque = reading[:3] + rng.normal(scale=0.01, size=3)
            force = reading[3:] + rng.normal(scale=0.1, size=3)
            assert rig.feed(force.tolist(), torque.tolist()) is None
        times.append(rig.now)
        wrenches.append(rig.step(0.0))
    return np.array(times), np.array(wrenches)


def push_at_the_sensor() -> Array:
    """Return the push as torque about, and force at, the sensor."""
    force, torque = np.asarray(PUSH.force, float), np.asarray(PUSH.torque, float)
    return np.concatenate([torque + np.cross((0.0, 0.05, 0.2), force), force])


@each('how', [
    {}, {'rate': 1000.0, 'jitter': 0.4}, {'every': 4}, {'cutoff': 5.0},
])
def test_a_push_on_a_fast_tool_is_found_to_5_percent(how: dict[str, Any]) -> None:
    times, wrenches = sensed(**how)
    free = wrenches[(times > 0.5) & (times < PUSHED_FROM)]
    push = push_at_the_sensor()
    off = wrenches[times > PUSHED_FROM + (0.3 if how.get('cutoff') == 5.0 else 0.1)] - push
    # Without a push half of the deadband that is recommended is left: 0.05 N m and 0.5 N.
    for part, residual in ((slice(3), 0.05), (slice(3, 6), 0.5)):
        assert np.linalg.norm(free[:, part], axis=1).max() < residual
        error = np.linalg.norm(off[:, part], axis=1).max()
        assert error < 0.05 * np.linalg.norm(push[part])


def test_without_the_tools_inertia_the_push_would_drown() -> None:
    # The motion is fast enough for the test above to mean something.
    still = np.zeros(7)
    forces = [
        sample.carried[3:] - np.asarray(
            tooled_arm().internal_wrench(sample.q, still, still, 'tool').force, float
        )
        for sample in simulated()[: round(PUSHED_FROM / STEP) : 10]
    ]
    assert np.linalg.norm(forces, axis=1).max() > 10.0
