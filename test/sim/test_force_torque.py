# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a force-torque sensor in the simulated robot reads, and what a control makes of it."""

import numpy as np
import pytest

from rnea_ros import RobotModel, Wrench
from support.control.wrench_rig import INLINE, WrenchRig
from support.models.robots import ROTOR, joint, link, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.physics import SimulatedRobot


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
