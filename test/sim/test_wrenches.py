# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Force-torque sensors on the simulated robot: their readings, and a push that they measure."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import ReferenceFrame, RobotModel, Wrench
from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.settings import Measures, SensorPlacement, WrenchInputSettings
from support.control.wrench_rig import INLINE, WrenchRig
from support.models.robots import ROTOR, joint, link, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.physics import SimulatedRobot
from support.control.closed_loop import PANDA, POSES, UR5E, ClosedLoop

FORCE = 20.0


def test_a_hanging_tool_pulls_the_sensor_down_by_its_weight() -> None:
    force, torque = SimulatedRobot(ROTOR).wrench('tool')
    np.testing.assert_allclose(force, [0.0, 0.0, -2.0 * 9.81], atol=1e-10)
    np.testing.assert_allclose(torque, [0.0, 0.3 * 2.0 * 9.81, 0.0], atol=1e-10)


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


def displacement(
    path: Path, link: str, placement: SensorPlacement, direction: np.ndarray, gain: float,
    measures: Measures = Measures.ENVIRONMENT_ON_ROBOT,
) -> float:
    """Return how far a push moves joints off a pose that they hold, rad."""
    pose, push = POSES[path], np.zeros(3)
    settings = WrenchInputSettings(
        'sensor', 'topic', link, Measures.ENVIRONMENT_ON_ROBOT, placement,
        deadband_force=0.0, deadband_torque=0.0, fade=0.1,
    )

    def sense(loop: ClosedLoop) -> None:
        force, torque = loop.simulated.wrench(link)
        if placement is not SensorPlacement.INLINE:  # it feels only what touches its link
            pose = loop.model.forward_kinematics(loop.simulated.state().positions, link)
            force, torque = pose[:3, :3].T @ push, np.zeros(3)
        rejection = loop.control.environment.wrenches.sensors['sensor'].monitor.take_sample(
            link, np.ascontiguousarray(force), np.ascontiguousarray(torque),
            stamp=loop.now, clock=loop.now, received=loop.now,
        )
        assert rejection is None

    loop = ClosedLoop(
        path, pose, sense=sense, wrench_inputs=(replace(settings, gain=gain, measures=measures),),
        ramp_duration=0.1, mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
    )
    loop.hold(pose, 0.1)
    assert np.abs(loop.q - pose).max() < 1e-6
    push[:] = FORCE * direction
    frame = ReferenceFrame.ROOT_LINK
    loop.simulated.apply_push(link, Wrench(force=tuple(push), frame=frame))
    since = len(loop.positions)
    loop.hold(pose, 0.3)
    assert loop.active()
    return float(np.abs(np.array(loop.positions[since:]) - pose).max())


@pytest.mark.parametrize(('path', 'link', 'placement'), [
    (PANDA, 'fer_link8', SensorPlacement.INLINE), (PANDA, 'fer_link4', SensorPlacement.CONTACT),
    (UR5E, 'tool0', SensorPlacement.INLINE), (UR5E, 'forearm_link', SensorPlacement.CONTACT),
])
def test_a_sensor_holds_a_push_better(path: Path, link: str, placement: SensorPlacement) -> None:
    direction = np.array([0.5, -0.7, 0.5])
    without, held = (displacement(path, link, placement, direction, k) for k in (0.0, 1.0))
    print(f'{path.stem}, {link}: displaced {without / held:.0f} times less with the sensor')
    assert without > 5.0 * held
    # So that it cannot pass by chance: a sensor of the wrong sign makes it worse.
    wrong = displacement(path, link, placement, direction, 1.0, Measures.ROBOT_ON_ENVIRONMENT)
    assert wrong > 1.1 * without
