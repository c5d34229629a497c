# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A wrench is what the environment does to the robot: tau = ID - J^T f."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, ReferenceFrame, RobotModel, UnknownNameError, Wrench
from support.cases import each
from support.models.oracles import Array, random_state, random_wrenches
from support.models.robots import description, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(3)
FORCE, TORQUE, POINT = (1.0, -2.0, 3.0), (0.5, 0.4, -0.3), (0.1, 0.2, -0.3)


def share(model: RobotModel, q: Array, wrenches: Any) -> Array:
    """Return what wrenches take off the efforts at rest: J^T f."""
    rest = np.zeros(model.nv)
    efforts: Array = model.gravity_torques(q) - model.inverse_dynamics(q, rest, rest, wrenches)
    return efforts


def assert_equal(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


@each('seed', SEEDS)
def test_the_efforts_power_is_the_wrenchs_taken_off(model: RobotModel, seed: int) -> None:
    """By central differences of the pose: d(x) and d(R) of the link that is pushed."""
    q, _, _ = random_state(seed, model.nv)
    wrenches = random_wrenches(seed, model.link_names)
    expected, h, root = np.zeros(model.nv), 1e-6, description(model).root
    for name, given in wrenches.items():
        pushed = model.forward_kinematics(q, name)
        for wrench in given:
            stated_in = model.forward_kinematics(q, root)
            if not isinstance(wrench.frame, ReferenceFrame):
                stated_in = model.forward_kinematics(q, wrench.frame or name)
            force = stated_in[:3, :3] @ np.asarray(wrench.force)
            torque = stated_in[:3, :3] @ np.asarray(wrench.torque)
            point_in_link = np.array([0.0, 0.0, 0.0, 1.0])
            if wrench.point is not None:
                at = stated_in @ np.append(np.asarray(wrench.point), 1.0)
                point_in_link = np.linalg.inv(pushed) @ at
            for j, unit in enumerate(np.eye(model.nv)):
                ahead = model.forward_kinematics(q + h * unit, name)
                behind = model.forward_kinematics(q - h * unit, name)
                slope = (ahead - behind) / (2.0 * h)
                spin = slope[:3, :3] @ pushed[:3, :3].T
                angular = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
                expected[j] += force @ (slope @ point_in_link)[:3] + torque @ angular
    np.testing.assert_allclose(share(model, q, wrenches), expected, rtol=1e-6, atol=1e-6)


@each('seed', SEEDS)
def test_wrenches_are_taken_off_whatever_the_motion(model: RobotModel, seed: int) -> None:
    q, qd, qdd = random_state(seed, model.nv)
    wrenches = random_wrenches(seed, model.link_names)
    free = model.inverse_dynamics(q, qd, qdd)
    assert_equal(model.inverse_dynamics(q, qd, qdd, wrenches), free - share(model, q, wrenches))


@each('seed', SEEDS)
def test_the_links_weights_as_wrenches_are_gravity(model: RobotModel, seed: int) -> None:
    q, _, _ = random_state(seed, model.nv)
    root = description(model).root
    weights = {}
    for name, read in description(model).links.items():
        if read.inertial is not None:
            com = model.forward_kinematics(q, name) @ (*read.inertial.origin.xyz, 1.0)
            weight = read.inertial.mass * model.gravity
            weights[name] = Wrench(weight.tolist(), frame=root, point=com[:3].tolist())
    assert_equal(share(model, q, weights), -model.gravity_torques(q))


def lever() -> RobotModel:
    """Return a weightless arm along x that a positive angle lifts, with a tool at x = 2."""
    return load(robot(
        link('base'), link('arm', 0.0, inertia=(0.0,) * 6), link('tool'), link('turned'),
        joint('hinge', 'continuous', 'base', 'arm', axis=(0.0, -1.0, 0.0)),
        joint('tool', 'fixed', 'arm', 'tool', xyz=(2.0, 0.0, 0.0)),
        joint('turned', 'fixed', 'tool', 'turned', rpy=(0.0, np.pi / 2, 0.0)),
    ))


@each(
    ('link_name', 'wrench', 'effort'),
    [
        pytest.param('tool', Wrench(force=(0, 0, -5)), 10.0, id='a-weight-is-held'),
        pytest.param('tool', Wrench(force=(0, 0, 5)), -10.0, id='a-lift-is-taken-off'),
        pytest.param('tool', Wrench(force=(7, 9, 0)), 0.0, id='along-the-arm'),
        pytest.param('arm', Wrench(force=(0, 0, -5)), 0.0, id='at-the-hinge'),
        pytest.param('arm', Wrench(force=(0, 0, -5), point=(2, 0, 0)), 10.0, id='at-a-point'),
        pytest.param('arm', Wrench(force=(0, 0, -5), frame='tool'), 0.0, id='at-its-own-origin'),
        pytest.param(
            'arm', Wrench(force=(0, 0, -5), frame='tool', point=(0, 0, 0)), 10.0,
            id='at-a-frames-origin',
        ),
        pytest.param(
            'arm', Wrench(force=(0, 0, -5), frame='tool', point=(1, 0, 0)), 15.0,
            id='at-a-point-of-a-frame',
        ),
        # Turned a quarter about y, the tool's x points down.
        pytest.param('turned', Wrench(force=(5, 0, 0)), 10.0, id='in-turned-coordinates'),
        pytest.param('turned', Wrench(force=(5, 0, 0), point=(0, 0, 1)), 15.0, id='turned-point'),
        pytest.param('tool', Wrench(torque=(0, 3, 0)), 3.0, id='torque-against'),
        pytest.param('turned', Wrench(torque=(0, -3, 0)), -3.0, id='torque-along'),
        pytest.param('tool', Wrench(torque=(3, 0, 3)), 0.0, id='torque-across'),
        pytest.param('base', Wrench(force=FORCE, torque=TORQUE), 0.0, id='on-the-base'),
        pytest.param('tool', Wrench(), 0.0, id='nothing'),
    ],
)
def test_a_lever(link_name: str, wrench: Wrench, effort: float) -> None:
    efforts = lever().inverse_dynamics([0.0], [0.0], [0.0], {link_name: wrench})
    np.testing.assert_allclose(efforts, [effort], atol=1e-14)


def test_by_default_a_wrench_acts_at_its_links_origin_in_its_coordinates(
    panda: RobotModel,
) -> None:
    q, _, _ = random_state(0, panda.nv)
    bare = {'fer_hand': Wrench(FORCE, TORQUE)}
    spelled_out = {
        'fer_hand': Wrench(force=FORCE, torque=TORQUE, frame='fer_hand', point=(0.0, 0.0, 0.0))
    }
    np.testing.assert_array_equal(share(panda, q, bare), share(panda, q, spelled_out))


@each('frame', ['fer_link2', 'fer_hand_tcp', *ReferenceFrame])
def test_a_frame_alone_turns_a_wrench_but_does_not_move_it(
    panda: RobotModel, frame: str | ReferenceFrame
) -> None:
    q, _, _ = random_state(0, panda.nv)
    stated_in = np.eye(4)
    if isinstance(frame, str):
        stated_in = panda.forward_kinematics(q, frame)
    R = panda.forward_kinematics(q, 'fer_hand')[:3, :3].T @ stated_in[:3, :3]
    by_hand = Wrench(force=R @ FORCE, torque=R @ TORQUE)
    by_frame = Wrench(force=FORCE, torque=TORQUE, frame=frame)
    assert_equal(share(panda, q, {'fer_hand': by_frame}), share(panda, q, {'fer_hand': by_hand}))


def test_base_and_world_are_the_frame_of_a_root_that_does_not_move(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    in_root = share(panda, q, {'fer_hand': Wrench(FORCE, TORQUE, 'fer_link0', POINT)})
    for frame in ReferenceFrame:
        in_frame = share(panda, q, {'fer_hand': Wrench(FORCE, TORQUE, frame, POINT)})
        np.testing.assert_array_equal(in_frame, in_root)


def test_a_force_at_a_point_is_the_force_and_its_moment(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    at_point = {'fer_link5': Wrench(force=FORCE, torque=TORQUE, point=POINT)}
    moment = np.array(TORQUE) + np.cross(POINT, FORCE)
    at_origin = {'fer_link5': Wrench(force=FORCE, torque=moment.tolist())}
    assert_equal(share(panda, q, at_point), share(panda, q, at_origin))


def test_a_frame_only_says_how_the_wrench_is_written(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    in_link = np.linalg.inv(panda.forward_kinematics(q, 'fer_link6')) @ panda.forward_kinematics(
        q, 'fer_link2'
    )
    R = in_link[:3, :3]
    by_hand = Wrench(
        force=(R @ FORCE).tolist(), torque=(R @ TORQUE).tolist(),
        point=(in_link @ (*POINT, 1.0))[:3].tolist(),
    )
    by_frame = Wrench(force=FORCE, torque=TORQUE, point=POINT, frame='fer_link2')
    assert_equal(share(panda, q, {'fer_link6': by_frame}), share(panda, q, {'fer_link6': by_hand}))


def test_links_fixed_to_each_other_feel_the_same_wrench(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    wrench = Wrench(force=FORCE, torque=TORQUE, frame='fer_hand_tcp', point=POINT)
    on_tip = share(panda, q, {'fer_hand_tcp': wrench})
    assert on_tip.any()
    for name in ('fer_link7', 'fer_link8', 'fer_hand'):
        assert_equal(share(panda, q, {name: wrench}), on_tip)


def test_several_wrenches_on_a_link_add_up(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    one, other = Wrench(force=FORCE), Wrench(torque=TORQUE, frame='fer_link0', point=POINT)
    apart = share(panda, q, {'fer_hand': one}) + share(panda, q, {'fer_hand': other})
    for together in ([one, other], (other, one)):
        assert_equal(share(panda, q, {'fer_hand': together}), apart)


def test_wrenches_on_several_links_add_up(model: RobotModel) -> None:
    q, _, _ = random_state(0, model.nv)
    wrenches = random_wrenches(0, model.link_names)
    apart = sum(share(model, q, {name: given}) for name, given in wrenches.items())
    assert_equal(share(model, q, wrenches), np.asarray(apart))


def test_opposite_wrenches_cancel(panda: RobotModel) -> None:
    q, _, _ = random_state(0, panda.nv)
    push = Wrench(force=FORCE, torque=TORQUE, frame='fer_link0', point=POINT)
    pull = Wrench(
        force=tuple(-x for x in FORCE), torque=tuple(-x for x in TORQUE), frame='fer_link0',
        point=POINT,
    )
    assert_equal(share(panda, q, {'fer_hand': [push, pull]}), np.zeros(panda.nv))


@each('nothing', [None, {}, {'fer_hand': []}, {'fer_hand': ()}])
def test_no_wrench_changes_nothing(panda: RobotModel, nothing: Any) -> None:
    state = random_state(0, panda.nv)
    np.testing.assert_array_equal(
        panda.inverse_dynamics(*state, nothing), panda.inverse_dynamics(*state)
    )


def test_a_wrench_acts_on_one_call_alone(panda: RobotModel) -> None:
    state = random_state(0, panda.nv)
    free = panda.inverse_dynamics(*state)
    panda.inverse_dynamics(*state, {'fer_hand': Wrench(force=FORCE)})
    np.testing.assert_array_equal(panda.inverse_dynamics(*state), free)
    np.testing.assert_array_equal(
        panda.bias_torques(*state[:2]), panda.inverse_dynamics(*state[:2], np.zeros(panda.nv))
    )


NO_VECTORS: list[tuple[Any, str]] = [
    ((1.0, 2.0), 'shape'),
    ((1.0, np.nan, 0.0), 'nan'),
    ((np.inf, 0.0, 0.0), 'inf'),
    ('abc', 'not an array'),
]
REJECTED = [
    pytest.param({'no': Wrench()}, UnknownNameError, "unknown link 'no'", id='link'),
    pytest.param(
        {'fer_hand': Wrench(frame='no')}, UnknownNameError, "unknown link 'no'", id='frame'
    ),
    *(
        pytest.param({'fer_hand': bad}, InputError, "wrench on link 'fer_hand'", id=f'{bad}')
        for bad in ((1.0, 2.0, 3.0), None, [Wrench(), 'up'])
    ),
    *(
        pytest.param(
            {'fer_hand': dataclasses.replace(Wrench(), **{field: bad})}, InputError,
            f"^{field} on link 'fer_hand': .*{said}", id=f'{field}-{said}',
        )
        for field in ('force', 'torque', 'point')
        for bad, said in NO_VECTORS
    ),
]


@each(('wrenches', 'error', 'said'), REJECTED)
def test_a_rejected_wrench_is_named_and_leaves_nothing_behind(
    panda: RobotModel, wrenches: Any, error: type[Exception], said: str
) -> None:
    state = random_state(0, panda.nv)
    free = panda.inverse_dynamics(*state)
    with pytest.raises(error, match=said):
        panda.inverse_dynamics(*state, {'fer_link3': Wrench(force=FORCE), **wrenches})
    np.testing.assert_array_equal(panda.inverse_dynamics(*state), free)


def test_a_wrench_is_not_changed_by_assignment() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wrench().force = FORCE  # type: ignore[misc]


def test_a_wrench_is_zero_by_default() -> None:
    zero = (0.0, 0.0, 0.0)
    assert Wrench() == Wrench(force=zero, torque=zero, frame=None, point=None)
