# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The law cartesian_impedance: stiffness, damping, targets without steps, every pose."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel, Wrench
from rnea_ros.dynamics import quaternions
from rnea_ros.errors import InputError
from rnea_ros.feedforward import CartesianImpedance, Reason, State
from rnea_ros.feedforward.cartesian_impedance import Approach
from rnea_ros.feedforward.laws import Gravity
from rnea_ros.feedforward.loaded_model import LoadedModel
from support.cases import each
from support.control.closed_loop import PANDA, POSES, TOOLS, UR5E, ClosedLoop
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    assert_valid,
    mixed_arm,
    panda_arm,
    two_joint_arm,
)
from support.models.robots import load

UNIT = np.array([0.0, 0.0, 0.0, 1.0])
STIFFNESS = np.array([400.0, 400.0, 400.0, 20.0, 20.0, 20.0])  # the default


def law_of(
    model: RobotModel, joints: Any = None, armature: Any = None, **parameters: Any
) -> CartesianImpedance:
    """Return the law of a robot, not begun."""
    own = CartesianImpedance.Parameters(**parameters)
    gains = np.zeros(model.nv), np.zeros(model.nv)
    return CartesianImpedance(
        LoadedModel(model), *gains, parameters=own, joints=joints, armature=armature
    )


def own_effort(law: CartesianImpedance, q: Array, qd: Array | None = None) -> Array:
    """Return the effort of all joints beside gravity, without time for the target to move."""
    qd = np.zeros_like(q) if qd is None else qd
    return np.asarray(law.effort(q, qd, None) - law.robot.model.gravity_torques(q))


def root_jacobian(model: RobotModel, q: Array, link: str) -> Array:
    """Return the Jacobian in the root link's axes, [linear; angular]."""
    R, J = model.forward_kinematics(q, link)[:3, :3], model.jacobian(q, link)
    return np.vstack([R @ J[3:], R @ J[:3]])


class Arm(ClosedLoop):
    """A simulated arm under the law, started; ``pose`` is its tool's."""

    def __init__(self, path: Any = PANDA, **settings: Any) -> None:
        self.link = TOOLS[path]
        own = CartesianImpedance.Parameters(link=self.link)
        given: dict[str, Any] = {
            'mode': CartesianImpedance, 'law_parameters': {CartesianImpedance.name: own},
            'rate': 250.0, 'ramp_duration': 0.05,
        }
        super().__init__(path, POSES[path], **(given | settings))

    def pose(self, q: Array | None = None) -> Array:
        return self.model.forward_kinematics(self.q if q is None else q, self.link)

    def move_by(self, way: Any, turn: Any = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
        """Send a target from where the tool is; return it."""
        T, rotation = self.pose(), quaternions.exponential(np.array(turn))
        orientation = quaternions.product(rotation, quaternions.of_rotation(T[:3, :3]))
        self.control.move_to(T[:3, 3] + way, orientation)
        return T[:3, 3] + way, orientation


def test_a_push_deflects_the_tool_by_the_stiffness_along_its_axis_alone() -> None:
    arm = Arm()
    before, root = arm.pose(), arm.model.link_names[0]
    for wrench in np.diag([8.0, 8.0, 8.0, 1.0, 1.0, 1.0]):
        arm.simulated.apply_push(arm.link, Wrench(wrench[:3], wrench[3:], root))
        arm.run(1.6)
        turn = quaternions.of_rotation(arm.pose()[:3, :3] @ before[:3, :3].T)
        moved = np.append((arm.pose() - before)[:3, 3], quaternions.logarithm(turn))
        np.testing.assert_allclose(STIFFNESS * moved, wrench, atol=0.02 * wrench.max())


@each(('model', 'joints', 'link'), [
    (panda_arm(), range(7), 'fer_link8'), (mixed_arm(), (2, 0, 1), 'finger'),
    (mixed_arm(), (1,), ''), (two_joint_arm(), (1, 0), ''),
])
def test_at_rest_the_commanded_joints_pull_as_the_springs_and_others_not(
    model: RobotModel, joints: Any, link: str
) -> None:
    joints = np.array(joints)
    law, q = law_of(model, joints, link=link), np.array(PANDA_POSE)[: model.nv]
    link = link or {1: 'upper', 2: 'upper'}[len(joints)]
    assert not own_effort(law, q).any()
    T, error = model.forward_kinematics(q, link), 1e-3 * np.array([3.0, -2, 4, 8, -9, 5])
    turned = quaternions.product(quaternions.exponential(error[3:]), law._orientation)
    law._approach = Approach(T[:3, 3] + error[:3], turned)
    J = root_jacobian(model, q, link)[:, joints]
    expected = np.zeros(model.nv)
    expected[joints] = J.T @ (STIFFNESS * error)
    np.testing.assert_allclose(own_effort(law, q), expected, rtol=1e-4, atol=1e-4)


@each('zeta', [0.5, 1.0])
def test_the_damping_is_that_ratio_of_the_critical_one_of_the_inertia(zeta: float) -> None:
    model, q, rotors = load(UR5E), POSES[UR5E], np.full(6, 0.1)
    law = law_of(model, armature=rotors, link=TOOLS[UR5E], damping_ratio=zeta)
    own_effort(law, q)
    J, M = root_jacobian(model, q, TOOLS[UR5E]), model.mass_matrix(q) + np.diag(rotors)
    columns = [own_effort(law, q, 1e-4 * axis) / -1e-4 for axis in np.eye(6)]
    D = np.linalg.solve(J.T, np.array(columns).T) @ np.linalg.inv(J)
    mobility, K = J @ np.linalg.solve(M, J.T), np.diag(STIFFNESS)
    np.testing.assert_allclose(D, D.T, atol=1e-3)
    np.testing.assert_allclose(D @ mobility @ D, 4.0 * zeta**2 * K, atol=0.5)


@pytest.mark.parametrize('rate', [250.0, 1000.0])
def test_the_damping_removes_no_more_than_the_velocity_in_a_tick(rate: float) -> None:
    model = panda_arm()
    law, q, n = law_of(model), np.array(PANDA_POSE), model.nv
    law.effort(q, np.zeros(n), None, None, 1.0 / rate)
    at_rest = own_effort(law, q)
    damping = [(at_rest - own_effort(law, q, qd)) / 1e-3 for qd in 1e-3 * np.eye(n)]
    poles = np.linalg.eigvals(np.linalg.solve(model.mass_matrix(q), np.array(damping).T))
    assert np.abs(poles).max() < rate


def test_without_stiffness_it_is_gravity() -> None:
    law = law_of(panda_arm(), stiffness=[0.0] * 6, null_stiffness=[0.0] * 7)
    for q, qd in np.random.default_rng(0).uniform(-1.0, 1.0, (100, 2, 7)):
        np.testing.assert_allclose(own_effort(law, q, qd), 0.0, atol=1e-12)


@each(('way', 'turn'), [((0.0, 0.0, -0.2), (0.0, 0.0, 0.0)), ((0.1, 0.1, 0.05), (0.3, -0.2, 0.5))])
@each('path', [PANDA, UR5E])
def test_the_tool_reaches_a_target_without_overshoot_and_stays_in_silence(
    path: Any, way: Any, turn: Any
) -> None:
    arm, way = Arm(path), np.array(way)
    goal, orientation = arm.move_by(way, turn)
    began, start = len(arm.positions), goal - way
    arm.run(3.0)
    places = np.array([arm.pose(q)[:3, 3] for q in arm.positions[began:]])
    assert ((places - start) @ way).max() < 1.003 * way @ way
    arm.run(1.0)
    assert np.linalg.norm(arm.pose()[:3, 3] - goal) < 1e-3
    left = quaternions.of_rotation(arm.pose()[:3, :3])
    assert abs(left @ orientation) > math.cos(0.005)


def test_half_a_turn_of_the_hand_makes_no_step_and_is_pushed_back_the_same_way() -> None:
    law, q = law_of(panda_arm(), link='fer_link8', null_stiffness=[0.0]), np.array(PANDA_POSE)
    efforts = []
    for q[6] in np.arange(-2.8, 2.8, 1e-3):  # 5.6 rad in one direction
        efforts.append(own_effort(law, q)[6])
    assert max(efforts[1:]) < 0.0
    assert np.abs(np.diff(efforts)).max() < 0.02  # 20 N m/rad times 1 mrad


def test_the_way_to_targets_has_no_steps_and_no_more_than_the_stated_speeds() -> None:
    rng, approach = np.random.default_rng(0), Approach(np.zeros(3), UNIT)
    for _ in range(200):
        turn = rng.normal(size=4)
        target = rng.uniform(-1.0, 1.0, 3), turn / np.linalg.norm(turn)
        for _ in range(100):
            before = np.append(approach.velocity, approach.acceleration)
            approach.advance(*target, 1e-3, 0.25, 0.6)
            linear, angular = np.linalg.norm(approach.velocity.reshape(2, 3), axis=1)
            assert linear <= 0.25
            assert angular <= 0.6
            step = np.append(approach.velocity, approach.acceleration) - before
            assert np.abs(step[:6]).max() < 0.03
            assert np.abs(step[6:]).max() < 5.0
    for _ in range(20_000):
        approach.advance(*target, 1e-3, 0.25, 0.6)
    np.testing.assert_allclose(approach.position, target[0], atol=1e-9)
    assert abs(approach.orientation @ target[1]) == pytest.approx(1.0)


def test_the_target_waits_for_a_joint_at_its_velocity_limit() -> None:
    for share, waits in ((0.69, False), (1.0, True), (3.0, True)):
        law, q = law_of(panda_arm(), link='fer_link8'), np.array(PANDA_POSE)
        law.move_to(np.array([0.4, 0.1, 0.5]), UNIT)
        for _ in range(100):
            law.effort(q, share * panda_arm().velocity_limits, None, None, 1e-3)
        assert law._approach is not None
        assert (not law._approach.velocity.any()) == waits


def test_a_changed_parameter_keeps_the_target_and_a_mode_starts_where_the_arm_is() -> None:
    arm = Arm()
    goal, _ = arm.move_by((0.0, 0.1, 0.0))
    arm.run(1.0)
    own = CartesianImpedance.Parameters(link=arm.link, stiffness=(200.0,) * 3 + (20.0,) * 3)
    arm.change(law_parameters={CartesianImpedance.name: own})
    arm.run(1.5)
    assert np.linalg.norm(arm.pose()[:3, 3] - goal) < 1e-3
    arm.change(mode=Gravity)
    arm.simulated.apply_push(arm.link, Wrench((10.0, 0.0, 0.0)))
    arm.run(0.5)
    arm.simulated.apply_push(arm.link, None)
    arm.change(mode=CartesianImpedance)
    arm.run(0.01)
    here = arm.pose()[:3, 3]
    arm.run(1.5)
    assert np.linalg.norm(here - goal) > 0.02
    assert np.linalg.norm(arm.pose()[:3, 3] - here) < 0.5 * np.linalg.norm(here - goal)


def test_old_joint_states_while_the_target_moves_end_it_and_the_link_is_held_there() -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, mode=CartesianImpedance, ramp_duration=0.01)
    rig.activate()
    rig.run(1.0)
    assert rig.state() is State.ACTIVE
    rig.controller.move_to(np.array([0.4, 0.2, 0.4]), UNIT)
    assert rig.run_until(State.HOLDING) < 0.15
    assert rig.controller.reason is Reason.JOINT_STATES_FROZEN
    rig.q += 0.1
    for _ in range(500):
        rig.q += 1e-9  # it measures again
        rig.tick()
    assert rig.state() is State.ACTIVE
    np.testing.assert_allclose(rig.commands[-1], rig.gravity, atol=1e-3)


def test_random_targets_and_pushes_keep_all_limits() -> None:
    arm = Arm(armature=(0.1,) * 7, simulation={'armature': [0.1] * 7})
    rng, before = np.random.default_rng(1), arm.control.limiter.command.copy()
    for k in range(5000):
        if k % 250 == 0:
            turn = rng.normal(size=4)
            place = rng.uniform((-0.8, -0.8, 0.0), (0.8, 0.8, 1.2))
            arm.control.move_to(place, turn / np.linalg.norm(turn))
            push = Wrench(rng.uniform(-20.0, 20.0, 3)) if k % 500 else None
            arm.simulated.apply_push(arm.link, push)
        arm.tick()
        assert_valid(arm.control.limiter.command, before, arm.control.settings, math.inf)
        before = arm.control.limiter.command.copy()
        assert (np.abs(arm.states.velocity) < 2.0 * arm.model.velocity_limits).all()
    assert arm.active()


@each(('model', 'link'), [
    (panda_arm(), 'fer_link8'), (load(UR5E), 'tool0'), (mixed_arm(), ''), (two_joint_arm(), ''),
])
def test_at_every_pose_efforts_are_those_of_the_largest_wrench_and_posture(
    model: RobotModel, link: str
) -> None:
    law, rng, n = law_of(model, link=link), np.random.default_rng(1), model.nv
    link = link or model.link_names[-1]
    lower, upper = np.maximum(model.position_lower, -3), np.minimum(model.position_upper, 3)
    for k in range(2500):
        q, qd = rng.uniform(lower, upper), rng.uniform(-1.0, 1.0, n)
        if k % 2:  # outstretched, folded wrists: joints at zero or almost
            at_zero = rng.random(n) < 0.5
            q[at_zero] = 1e-4 * rng.integers(0, 2, n)[at_zero] * rng.normal()
            q = np.clip(q, lower, upper)
        law.reset()
        law.move_to(rng.normal(size=3), UNIT)
        effort = law.effort(q, qd, None, None, 0.05) - model.gravity_torques(q)
        lengths = np.linalg.norm(model.jacobian(q, link).reshape(2, 3, n), axis=1)
        assert (np.abs(effort) < 10.0 * lengths[0] + 50.0 * lengths[1] + 15.0).all(), q


@each('joint', [2, 4])
def test_efforts_are_continuous_across_a_singularity(joint: int) -> None:
    model = load(UR5E)
    law, q = law_of(model, link=TOOLS[UR5E]), POSES[UR5E].copy()
    own_effort(law, q)
    assert law._approach is not None
    law._approach.velocity[:] = 0.1, 0.2, -0.1, 0.3, 0.2, 0.1
    law._approach.acceleration[:] = 1.0, 2.0, -1.0, 0.3, 0.2, 0.1
    efforts = []
    for q[joint] in np.arange(-0.005, 0.005, 1e-5):
        efforts.append(own_effort(law, q, np.array([0.5, -0.3, 0.4, 0.2, -0.6, 0.3])))
    assert np.abs(np.diff(efforts, axis=0)).max() < 0.01


@each(('parameters', 'error'), [
    ({'link': 'tool'}, "link: 'tool' is not a link"),
    ({'link': 'fer_link0'}, "link: no commanded joint moves link 'fer_link0'"),
    ({'posture': (0.0, 1.0)}, 'posture: .* has 2 values, not one for each of 7'),
    ({'stiffness': (400.0,)}, 'stiffness: .* is not six numbers'),
])
def test_a_wrong_parameter_is_named(parameters: Any, error: str) -> None:
    with pytest.raises(InputError, match=f'cartesian_impedance.{error}'):
        law_of(panda_arm(), **parameters)
