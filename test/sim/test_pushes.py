# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Pushes on a simulated arm: by force and hand, in a sensor, found at once, stopped at limits."""

from functools import partial

import numpy as np
import pytest

from rnea_ros import InputError, ReferenceFrame, RobotModel, Wrench
from rnea_ros.feedforward import settings
from rnea_ros.feedforward.laws import ComputedTorque
from rnea_ros.feedforward.motion import TrajectoryPoint, TrajectoryRequest
from support.control.wrench_rig import INLINE, WrenchRig
from support.models.robots import ROTOR, joint, link, load, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.hand import ScheduledPush, ScriptedHand
from rnea_ros.sim.physics import SimulatedRobot
from support.control.closed_loop import PANDA, POSES, TOOLS, Array, ClosedLoop, swing

FLANGE, POSE = TOOLS[PANDA], POSES[PANDA]
STEP = 0.002
FORCE = 10.0
MEASURED, COMMANDED = settings.EffortSource.MEASURED, settings.EffortSource.COMMANDED

MARGIN = 0.6
SOFT_LIMITS = settings.SoftLimitSettings((MARGIN,), (200.0, 200.0, 200.0, 200.0, 25.0, 25.0, 25.0))
DAMPING = (2.0, 2.0, 2.0, 2.0, 0.5, 0.5, 0.5)
"""The values of docs/hand_guiding.md."""


def push(loop: ClosedLoop, force: Array) -> None:
    wrench = Wrench(force=tuple(force), frame=ReferenceFrame.ROOT_LINK)
    loop.simulated.apply_push(FLANGE, wrench)


def arm(source: settings.EffortSource) -> ClosedLoop:
    return ClosedLoop(
        PANDA, POSE, rate=1.0 / STEP, mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
        ramp_duration=0.1, contact=settings.ContactSettings(settings.ContactAction.FLAG),
        external_effort=settings.ExternalEffortSettings(link=FLANGE, source=source),
    )


@pytest.mark.parametrize(('source', 'amplitude', 'direction'), [
    (MEASURED, 0.3, (0.0, -1.0, 0.0)), (COMMANDED, 0.0, (0.0, 0.0, 1.0)),
])
def test_a_push_of_10_newtons_is_found_within_20_ms_and_10_percent(
    source: settings.EffortSource, amplitude: float, direction: tuple[float, ...]
) -> None:
    loop, motion = arm(source), partial(swing, POSE, amplitude, 0.5)
    loop.run(1.0, motion)
    assert loop.control.snapshot.contact is None
    push(loop, FORCE * np.array(direction))
    found = []
    for k in range(150):
        loop.run(STEP, lambda t, start=1.0 + k * STEP: motion(start + t))  # type: ignore[misc]
        found.append(loop.control.snapshot.contact is not None)
    external = loop.control.external_effort
    assert external is not None
    wrench = external.wrench_at_link()
    assert wrench is not None
    rotation = loop.model.forward_kinematics(loop.q, FLANGE)[:3, :3]
    assert np.linalg.norm(rotation @ wrench[3:] - FORCE * np.array(direction)) < 0.1 * FORCE
    assert any(found[:11])  # it acts from the end of the first tick


def room(pose: Array, direction: Array, soft_limits: settings.SoftLimitSettings) -> float:
    """Return the smallest distance of a joint from a limit while the flange is pushed, rad."""
    loop = ClosedLoop(PANDA, pose, ramp_duration=0.1, damping=DAMPING, soft_limits=soft_limits)
    push(loop, 30.0 * direction)
    loop.run(2.0)
    assert loop.active()
    q, model = np.array(loop.positions), loop.model
    return float(np.minimum(q - model.position_lower, model.position_upper - q).min())


@pytest.mark.parametrize('number', [489, 0, 1])  # 489 reaches a limit with a margin of 0.4 rad
def test_a_random_push_in_a_random_pose_stops_before_every_limit(number: int) -> None:
    model, random = load(PANDA), np.random.default_rng((1, number))
    width = model.position_upper - model.position_lower - 2.0 * MARGIN
    pose = model.position_lower + MARGIN + random.uniform(size=7) * width
    direction = random.normal(size=3)
    assert room(pose, direction / np.linalg.norm(direction), SOFT_LIMITS) > 0.0


def test_without_soft_limits_a_push_reaches_a_limit() -> None:
    assert room(POSE, -np.eye(3)[2], settings.SoftLimitSettings()) <= 0.0


CART = robot(
    link('base'), link('cart', 2.0), joint('slide', 'prismatic', 'base', 'cart', axis=(1, 0, 0)),
)
PUSH = Wrench(force=(4.0, 0.0, 0.0))


def test_a_push_starts_after_the_brakes_open_and_lasts_its_duration() -> None:
    cart = SimulatedRobot(CART)
    with pytest.raises(InputError, match='push start: -1'):
        ScheduledPush(cart, 'cart', PUSH, -1.0, 1.0)
    push = ScheduledPush(cart, 'cart', PUSH, start=0.1, duration=0.2)
    speeds = []
    for index in range(1000):
        push.update()
        cart.step([0.0] if index >= 500 else None)
        speeds.append(cart.state().velocities[0])
    # The brakes open in step 500; 4 N move 2 kg for 0.2 s.
    assert abs(speeds[600]) < 1e-12 < speeds[603]
    assert speeds[700] == pytest.approx(0.1 * 2.0, abs=0.005)
    assert speeds[999] == pytest.approx(0.2 * 2.0, abs=0.005)
    assert speeds[999] == pytest.approx(speeds[810], abs=1e-12)


def test_a_hand_is_springs_and_dampers_of_limited_strength() -> None:
    arm = SimulatedRobot(PANDA.read_text(encoding='utf-8'), initial_positions=POSE)
    hand, joints = ScriptedHand(arm), arm.joint_names[:3]
    limits = np.array([limit.effort for limit in arm.limits[:3]])
    way, rest = np.array([0.01, -0.03, 0.8]), np.zeros(3)
    hand.guide(TrajectoryRequest.of_points(joints, [
        TrajectoryPoint(0.2 * k, POSE[:3] + 2 * k * way, rest, rest) for k in range(2)
    ]))
    hand.update()
    assert not hand.efforts.any()  # the brakes are closed
    for _ in range(101):
        arm.step(np.zeros(7))
        hand.update()
    q, qd = arm.motion  # in the middle of the way, where a quintic is fastest
    stiffness = np.minimum(limits, 50.0**2 * arm.inertia[:3])
    expected = stiffness * (POSE[:3] + way - q[:3] + 0.2 * (1.875 * 2.0 * way / 0.2 - qd[:3]))
    clipped = np.clip(expected, -0.5 * limits, 0.5 * limits)
    assert hand.efforts[:3] == pytest.approx(clipped, abs=1e-12)
    assert expected[2] > clipped[2]
    assert not hand.efforts[3:].any()
    hand.guide(TrajectoryRequest.of_points(joints, []))
    hand.update()
    assert not hand.efforts.any()


def test_the_sensor_reads_a_push_on_what_it_carries_as_it_is() -> None:
    simulated = SimulatedRobot(ROTOR, gravity=(0.0, 0.0, 0.0))
    simulated.apply_push('tool', Wrench((1.0, 2.0, 3.0), (0.4, 0.5, 0.6)))
    simulated.step()
    force, torque = simulated.wrench('tool')
    np.testing.assert_allclose(force, [1.0, 2.0, 3.0], atol=1e-10)
    np.testing.assert_allclose(torque, [0.4, 0.5, 0.6], atol=1e-10)


ARM = robot(
    link('base'), link('upper', 2.0, com=(0.25, 0.0, 0.0)),
    link('lower', 1.0, com=(0.2, 0.05, 0.0)),
    link('tool', 2.0, com=(0.05, 0.0, 0.1), inertia=(0.02, 0.0, 0.0, 0.02, 0.0, 0.01)),
    joint('shoulder', 'continuous', 'base', 'upper', axis=(0, 1, 0)),
    joint('elbow', 'continuous', 'upper', 'lower', xyz=(0.5, 0, 0), axis=(0.6, 0.8, 0)),
    joint('mount', 'fixed', 'lower', 'tool', xyz=(0.4, 0, 0), rpy=(0.2, 0.4, 0.6)),
)


@pytest.mark.oracle
def test_a_push_on_a_swinging_tool_is_found_in_mujocos_readings() -> None:
    simulated = SimulatedRobot(ARM, initial_positions=[0.3, -0.5])
    model = RobotModel.from_urdf(ARM)
    rig = WrenchRig(model, {'placement': INLINE, 'cutoff': 20.0})
    pushing = np.array([0.5, 0.0, 0.3, 5.0, 10.0, -8.0])
    errors = {False: 0.0, True: 0.0}
    for k in range(2000):
        if k == 1000:
            simulated.apply_push('tool', Wrench(tuple(pushing[3:]), tuple(pushing[:3])))
        state = simulated.state()
        rig.q[:], rig.qd[:] = state.positions, state.velocities
        swing = 4.0 * np.array([np.sin(0.01 * k), np.sin(0.013 * k)]) - 0.5 * rig.qd
        simulated.step(model.gravity_torques(rig.q) + swing)
        rig.wait()
        force, torque = simulated.wrench('tool')
        assert rig.feed(force.tolist(), torque.tolist()) is None
        wrench, pushed = rig.step(0.0), k >= 1000
        if 100 < k < 1000 or k > 1100:
            error = float(np.linalg.norm(wrench - pushed * pushing))
            errors[pushed] = max(errors[pushed], error)
    # 5 % of a push of 13.7 N; without it, what the tool's weight of 20 N leaves.
    assert errors[True] < 0.7
    assert errors[False] < 0.5
    assert np.abs(rig.qd).max() > 1.0
