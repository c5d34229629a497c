# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a URDF means: what is read, in which order, and what is assumed."""

import math
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pytest
from urdf_parser_py.xml_reflection import core

from rnea_ros.urdf import Inertial, Joint, JointLimits, Link, Mimic, Origin, parse_urdf
from rnea_ros.urdf.description import SafetyController, collision_shapes
from support.cases import each
from support.models.oracles import Pinocchio
from support.models.robots import ARM, joint, link, load, robot


def only_joint(more: str = '', kind: str = 'revolute') -> Joint:
    """Return the joint of a robot of one joint, from its elements."""
    text = (
        f'<robot name="r">{link("base")}{link("arm", 1.0)}<joint name="j" type="{kind}">'
        f'<parent link="base"/><child link="arm"/>{more}</joint></robot>'
    )
    return parse_urdf(text).joints['j']


LIMIT = '<limit effort="3" velocity="2" lower="-1" upper="1"/>'
SAFE = (
    '<safety_controller soft_lower_limit="-0.5" soft_upper_limit="0.6" '
    'k_position="3" k_velocity="4"/>'
)


def test_every_field_of_a_link_is_read_and_may_lack() -> None:
    moments = (0.6, 0.01, 0.02, 0.5, 0.03, 0.4)
    text = robot(link('base', 2.5, (1, 2, 3), moments, (0.1, 0.2, 0.3)))
    inertial = Inertial(Origin((1, 2, 3), (0.1, 0.2, 0.3)), 2.5, moments)
    assert parse_urdf(text).links == {'base': Link('base', inertial)}
    text = robot('<link name="base"><inertial><mass value="2"/></inertial></link>')
    assert parse_urdf(text).links['base'].inertial == Inertial(Origin(), 2.0, (0.0,) * 6)
    assert parse_urdf(ARM).links['base'].inertial is None


def test_the_xml_is_parsed_once_and_urdf_parser_py_reads_its_elements(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    parsers = iter([expat.ParserCreate()])  # one
    monkeypatch.setattr(expat, 'ParserCreate', lambda: next(parsers))
    monkeypatch.delattr(ElementTree, 'fromstring')
    # Version 1.2.1, of the distributions, has this function.
    monkeypatch.setattr(core, 'xml_children', lambda node: node.getchildren())
    description = parse_urdf(ARM)
    with pytest.warns(DeprecationWarning, match='description.shapes'):
        assert collision_shapes(description, {}) == list(description.shapes)


def test_every_field_of_a_joint_is_read() -> None:
    more = (
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>'
        f'<dynamics damping="0.5" friction="0.25"/>{LIMIT}'
    )
    assert only_joint(more) == Joint(
        name='j', type='revolute', parent='base', child='arm',
        origin=Origin((1, 2, 3), (0.1, 0.2, 0.3)), axis=(0, 0, 1),
        limits=JointLimits(lower=-1, upper=1, velocity=2, effort=3),
        damping=0.5, friction=0.25, mimic=None,
    )


@each(('more', 'field', 'value'), [
    *((f'<origin xyz="{x} 0 0"/>', 'origin', Origin((1.0, 0, 0))) for x in ('+1.', '10E-1')),
    (f'<dynamics damping="\t{0.1 + 0.2!r} "/>', 'damping', 0.1 + 0.2),
    ('', 'axis', (1.0, 0.0, 0.0)), ('<axis xyz="0 -2 0"/>', 'axis', (0.0, -1.0, 0.0)),
    ('<axis xyz="3 0 4"/>', 'axis', (0.6, 0.0, 0.8)), ('<origin/>', 'origin', Origin()),
    ('<origin xyz="1 2 3"/>', 'origin', Origin((1, 2, 3), (0, 0, 0))),
    ('<origin rpy="1 2 3"/>', 'origin', Origin((0, 0, 0), (1, 2, 3))),
    *((more, field, 0.0) for more in ('', '<dynamics/>') for field in ('damping', 'friction')),
    *((SAFE.replace(old, new), 'safety_controller', None) for old, new in (
        ('-0.5', '0.6'), ('y="4"', 'y="0"'), ('n="3"', 'n="0"'))),
    (SAFE, 'safety_controller', SafetyController(-0.5, 0.6, 3.0, 4.0)),
    # URDF 1.1, 1.2
    ('<origin xyz="1 2 3" quat_xyzw="0 0 0 1"/>', 'origin', Origin((1, 2, 3), (0, 0, 0))),
    ('<origin quat_xyzw="0.71 0 0 0.71"/>', 'origin', Origin((0, 0, 0), (math.pi / 2, 0, 0))),
    (LIMIT.replace('/>', ' acceleration="4" deceleration="5" jerk="6"/>'), 'limits',
     JointLimits(-1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
])
def test_a_field_is_read_and_has_a_default(more: str, field: str, value: object) -> None:
    assert getattr(only_joint(more if '<limit' in more else LIMIT + more), field) == value


@each(('kind', 'limit', 'limits'), [
    ('revolute', '<limit effort="3" velocity="2"/>', JointLimits(0.0, 0.0, 2.0, 3.0)),
    ('continuous', LIMIT.replace('-1', '5'), JointLimits(-math.inf, math.inf, 2.0, 3.0)),
    ('continuous', '', JointLimits()), ('fixed', f'{LIMIT}<mimic joint="j"/>', JointLimits()),
    *((kind, limit, JointLimits()) for kind in ('planar', 'floating') for limit in ('', LIMIT)),
])
def test_limits_are_0_or_without_end(kind: str, limit: str, limits: JointLimits) -> None:
    read = only_joint(limit, kind)
    assert (read.type, read.limits, read.mimic) == (kind, limits, None)
    assert read.moves == (kind != 'fixed')
    assert read.one_axis == (kind in ('revolute', 'continuous'))


def test_a_quaternion_is_the_rotation_of_pinocchio_in_every_origin() -> None:
    pin = pytest.importorskip('pinocchio')
    random = np.random.default_rng(0)
    quarter = (0.5**0.5, -(0.5**0.5))
    edges = [[0.0, x, 0.0, w] for x in quarter for w in quarter]  # a pitch of +-pi/2
    edges += [pin.Quaternion(pin.rpy.rpyToMatrix(0.3, p, 0.7)).coeffs() for p in (1.5707963, 3)]
    for quaternion in [*random.normal(size=(20, 4)), *edges]:
        x, y, z, w = (quaternion / np.linalg.norm(quaternion)).tolist()
        rpy = pin.rpy.matrixToRpy(pin.Quaternion(w, x, y, z).toRotationMatrix())
        euler = ' '.join(repr(float(angle)) for angle in rpy)
        ball = f'<origin rpy="{euler}"/><geometry><sphere radius="1"/></geometry>'
        body = link('arm', 2.0, (0.1, 0.2, 0.3), (0.1, 0.01, 0.02, 0.2, 0.03, 0.25), rpy)
        body = body.replace('<inertial>', f'<collision>{ball}</collision><inertial>')
        text = robot(link('base'), body, joint('j', 'revolute', 'base', 'arm', rpy=rpy))
        assert text.count(f'rpy="{euler}"') == 3
        turned = text.replace(f'rpy="{euler}"', f'quat_xyzw="{x!r} {y!r} {z!r} {w!r}"')
        motion = random.normal(size=(3, 1))
        expected = Pinocchio(text, ['j']).inverse_dynamics(*motion)
        np.testing.assert_allclose(load(turned).inverse_dynamics(*motion), expected, rtol=1e-9)
        (found,) = parse_urdf(turned).shapes
        matrix = pin.rpy.rpyToMatrix(np.array(found.origin.rpy))
        np.testing.assert_allclose(matrix, pin.rpy.rpyToMatrix(rpy), atol=1e-10)


def test_parents_come_first_in_any_order_of_the_text() -> None:
    links = [link(f'link_{i}') for i in range(8)]
    joints = [joint(f'{i}', 'fixed', f'link_{i - 1}', f'link_{i}') for i in range(1, 8)]
    rng = np.random.default_rng(0)
    for _ in range(10):
        text = robot(*rng.permutation(links), *rng.permutation(joints))
        assert ''.join(parse_urdf(text).joints) == '1234567'


def test_branches_keep_the_order_of_the_text_each_to_its_tip() -> None:
    text = robot(
        *map(link, ('base', 'left', 'left_tip', 'right', 'right_tip')),
        joint('right', 'fixed', 'base', 'right'), joint('left', 'fixed', 'base', 'left'),
        joint('left_tip', 'fixed', 'left', 'left_tip'),
        joint('right_tip', 'fixed', 'right', 'right_tip'),
    )
    assert list(parse_urdf(text).joints) == ['right', 'right_tip', 'left', 'left_tip']


MIMICS = {
    'a': '', 'b': '<mimic joint="a" multiplier="2" offset="0.1"/>',
    'c': '<mimic joint="b" multiplier="-3" offset="0.5"/>', 'd': '<mimic joint="c"/>',
    'e': '<mimic joint="c" multiplier="0" offset="0"/>',
}


@each('order', ['abcde', 'edcba', 'bcaed', 'cdbea'])
def test_mimic_joints_are_resolved_to_their_leader_in_any_order(order: str) -> None:
    joints = parse_urdf(robot(
        link('base'), *(link(name, 1.0) for name in order),
        *(joint(name, 'revolute', parent, name, more=MIMICS[name])
          for parent, name in zip(('base', *order), order, strict=False)),
    )).joints
    assert joints['a'].mimic is None
    # c = -3 b + 0.5 = -3 (2 a + 0.1) + 0.5
    expected = {'b': (2.0, 0.1), 'c': (-6.0, 0.2), 'd': (-6.0, 0.2), 'e': (0.0, 0.0)}
    for name, numbers in expected.items():
        mimic = joints[name].mimic
        assert mimic is not None
        assert mimic.joint == 'a'
        np.testing.assert_allclose((mimic.multiplier, mimic.offset), numbers, rtol=1e-15)


def test_a_forgotten_prefix_is_completed_and_reported() -> None:
    names = ('left_1', 'right_1', 'left_2', 'right_2')
    mimic = '<mimic joint="1" multiplier="-1"/>'
    description = parse_urdf(robot(link('base'), *(link(name, 1.0) for name in names), *(
        joint(name, 'revolute', 'base', name, more=mimic if name.endswith('2') else '')
        for name in names
    )))
    assert description.joints['left_2'].mimic == Mimic('left_1', -1.0, 0.0)
    assert description.joints['right_2'].mimic == Mimic('right_1', -1.0, 0.0)
    assert description.warnings == (
        "joint 'left_2' mimics '1', which does not exist; 'left_1' is used",
        "joint 'right_2' mimics '1', which does not exist; 'right_1' is used",
    )
