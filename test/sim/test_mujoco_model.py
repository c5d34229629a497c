# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The MuJoCo model of a URDF: the same dynamics, limits and friction; held joints; payloads."""

from typing import Any

import numpy as np
import pytest

from rnea_ros import UrdfError
from rnea_ros.robot import Payload
from rnea_ros.urdf import parse_urdf
from support.models.oracles import Array
from support.models.robots import LIMIT, SHIPPED, joint, link, load, robot

mujoco = pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.mujoco_model import build_mujoco_model  # noqa: E402

GRAVITY = np.array([0.3, -0.2, -9.81])

HAND = robot(
    link('base'),
    link('palm', 1.0, (0.0, 0.1, 0.2)),
    link('thumb', 0.2, (0.1, 0.0, 0.1), (0.02, 0.001, 0.0, 0.03, 0.002, 0.04), rpy=(1, 2, 3)),
    link('finger', 0.3, (0.0, 0.1, 0.1)),
    joint('wrist', 'revolute', 'base', 'palm', axis=(1, 0, 0), xyz=(0, 0, 0.3)),
    joint('grip', 'revolute', 'palm', 'thumb', axis=(0, 1, 0), xyz=(0.1, 0, 0), rpy=(0.3, 0, 1)),
    joint(
        'follow', 'revolute', 'palm', 'finger', axis=(0, 1, 1), xyz=(-0.1, 0, 0),
        more='<mimic joint="grip" multiplier="-2" offset="0.4"/>',
    ),
)


def build(text: str, **options: Any) -> Any:
    given = {'gravity': GRAVITY, 'timestep': 0.001, 'held': {}, 'payload': None, **options}
    return build_mujoco_model(text, parse_urdf(text), **given)


def inverse_dynamics(text: str, names: tuple[str, ...], q: Array, *motion: Array) -> Array:
    """Return MuJoCo's inverse dynamics, the mimic joints projected onto those they follow."""
    model = build(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    projection = np.zeros((model.nv, len(names)))
    offsets = np.zeros(model.nv)
    for element in parse_urdf(text).joints.values():
        if element.moves:
            row = model.joint(element.name).dofadr[0]
            mimic = element.mimic
            leader = element.name if mimic is None else mimic.joint
            projection[row, names.index(leader)] = 1.0 if mimic is None else mimic.multiplier
            offsets[row] = 0.0 if mimic is None else mimic.offset
    data.qpos[:] = projection @ q + offsets
    data.qvel[:], data.qacc[:] = (projection @ values for values in motion)
    mujoco.mj_inverse(model, data)
    # Damping is a force of its own for MuJoCo, and no part of rigid-body dynamics.
    efforts: Array = projection.T @ (data.qfrc_inverse + data.qfrc_passive)
    return efforts


@pytest.mark.parametrize(
    'text', [*(path.read_text() for path in SHIPPED), HAND], ids=['hand', 'arm', 'ur5e', 'mimic']
)
def test_mujoco_agrees_with_the_model_on_inverse_dynamics(text: str) -> None:
    model = load(text, gravity=tuple(GRAVITY))
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, model.nv))
    expected = model.inverse_dynamics(q, qd, qdd)
    computed = inverse_dynamics(text, model.joint_names, q, qd, qdd)
    np.testing.assert_allclose(computed, expected, rtol=1e-9, atol=1e-9)


def test_friction_and_ranges_are_those_of_the_urdf_and_nothing_is_added() -> None:
    lossy = joint('a', 'revolute', 'base', 'arm', more='<dynamics damping="0.3" friction="0.2"/>')
    text = robot(
        link('base'), link('arm', 1.0), link('end', 1.0), lossy,
        joint('b', 'continuous', 'arm', 'end', more=LIMIT),
    )
    model = build(text)
    assert model.dof_damping.tolist() == [0.3, 0.0]
    assert model.dof_frictionloss.tolist() == [0.2, 0.0]
    assert not model.dof_armature.any()
    assert model.ngeom == 0
    assert model.jnt_limited.tolist() == [1, 0]  # a continuous joint has no range
    assert model.jnt_range[0].tolist() == [-3.0, 3.0]


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_a_held_joint_is_rigid_where_it_is_held(kind: str) -> None:
    text = robot(
        link('base'), link('arm', 1.0, (0.1, 0.2, 0.3)), link('end', 1.0, (0.3, 0.1, 0.2)),
        joint('a', 'revolute', 'base', 'arm', axis=(1, 0, 0)),
        joint('b', kind, 'arm', 'end', axis=(0, 1, 2), xyz=(0.1, 0.2, 0.3), rpy=(0.5, 0.6, 0.7)),
    )
    model = build(text, held={'b': 0.8})
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    pose = load(text).forward_kinematics([0.0, 0.8], 'end')
    assert model.njnt == 1
    np.testing.assert_allclose(data.body('end').xpos, pose[:3, 3], atol=1e-10)
    np.testing.assert_allclose(data.body('end').xmat.reshape(3, 3), pose[:3, :3], atol=1e-10)


def test_a_payload_adds_its_mass_and_its_inertia() -> None:
    text = SHIPPED[1].read_text()
    com, moments = (0.0, 0.0, 0.1), (0.02, 0.0, 0.0, 0.03, 0.0, 0.04)
    body = build(text, payload=Payload('fer_link8', 2.0, com, moments))
    assert sorted(body.body_inertia[-1]) == pytest.approx([0.02, 0.03, 0.04])
    loaded = build(text, payload=Payload('fer_link8', 2.0, com))
    assert loaded.body_mass.sum() == pytest.approx(build(text).body_mass.sum() + 2.0, rel=1e-12)
    assert not loaded.body_inertia[-1].any()


def test_a_robot_that_mujoco_rejects_is_named_with_the_reason() -> None:
    text = robot(link('base'), link('arm'), joint('a', 'revolute', 'base', 'arm'), name='odd')
    with pytest.raises(UrdfError, match=r"robot 'odd': MuJoCo rejects it: .*mass and inertia"):
        build(text)


def test_random_plates_flat_to_rounding_are_simulated() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        spread = np.diag([*rng.uniform(1e-4, 0.1, 2), 0.0]) * 10.0 ** rng.uniform(-3.0, 6.0)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J = axes @ (np.trace(spread) * np.eye(3) - spread) @ axes.T
        inertia, rpy = tuple(J[np.triu_indices(3)]), rng.uniform(-3.0, 3.0, 3)
        plate = link('plate', 1.0, rng.normal(size=3), inertia, rpy)
        build(robot(link('base'), plate, joint('a', 'revolute', 'base', 'plate')))


def test_the_mass_matrix_is_compared_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = Payload('finger', 2.0, (0.1, 0.2, 0.3), (0.1, 0.0, 0.0, 0.1, 0.0, 0.2))
    build(HAND, payload=payload, held={'wrist': 0.7})  # a plate on a hand

    def turned(quaternion: Array, *_: Any) -> None:  # as MuJoCo before 3.14
        quaternion[:] = 1.0, 0.0, 0.0, 0.0

    monkeypatch.setattr(mujoco, 'mju_euler2Quat', turned)
    with pytest.raises(UrdfError, match=r"MuJoCo 3.* another mass matrix, .* at 'wrist': install"):
        build(HAND)


@pytest.mark.parametrize(('xx', 'yy', 'zz', 'nearest'), [
    (0.1, 0.1, 0.9, (0.45, 0.45, 0.9)), (-0.1, 0.2, 0.3, (0.0, 0.3, 0.3)),
    (0.0, 0.0, 0.0, (0.0, 0.0, 0.0)),
])
def test_an_impossible_inertia_becomes_the_nearest_possible_one(
    xx: float, yy: float, zz: float, nearest: tuple[float, float, float]
) -> None:
    arm = link('arm', 1.0, inertia=(xx, 0.0, 0.0, yy, 0.0, zz))
    model = build(robot(link('base'), arm, joint('a', 'revolute', 'base', 'arm')))
    np.testing.assert_allclose(np.sort(model.body_inertia[-1]), nearest, atol=1e-11)
