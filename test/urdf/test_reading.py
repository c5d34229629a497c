# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a URDF means: what is read, in which order, and what is assumed."""

import math

import numpy as np

from rnea_ros.urdf import Inertial, Joint, JointLimits, Link, Mimic, Origin, parse_urdf
from rnea_ros.urdf.description import SafetyController
from support.cases import each
from support.models.robots import ARM, joint, link, robot


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


def test_every_field_of_a_link_is_read() -> None:
    text = robot(link('base', 2.5, (1, 2, 3), (0.6, 0.01, 0.02, 0.5, 0.03, 0.4), (0.1, 0.2, 0.3)))
    assert parse_urdf(text).links == {
        'base': Link('base', Inertial(
            Origin((1, 2, 3), (0.1, 0.2, 0.3)), 2.5, (0.6, 0.01, 0.02, 0.5, 0.03, 0.4)
        ))
    }


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
    *((f'<origin xyz="{x} 0 0"/>', 'origin', Origin((1.0, 0, 0))) for x in ('1', '1.', '+1')),
    *((f'<origin xyz="{x} 0 0"/>', 'origin', Origin((1.0, 0, 0))) for x in ('1e0', '10E-1')),
    *((f'<dynamics damping="{x}"/>', 'damping', 1.0) for x in (' 1 ', '\t1.0\n')),
    (f'<dynamics damping="{0.1 + 0.2!r}"/>', 'damping', 0.1 + 0.2),
    ('', 'axis', (1.0, 0.0, 0.0)), ('<axis xyz="0 -2 0"/>', 'axis', (0.0, -1.0, 0.0)),
    ('<axis xyz="3 0 4"/>', 'axis', (0.6, 0.0, 0.8)), ('<origin/>', 'origin', Origin()),
    ('<origin xyz="1 2 3"/>', 'origin', Origin((1, 2, 3), (0, 0, 0))),
    ('<origin rpy="1 2 3"/>', 'origin', Origin((0, 0, 0), (1, 2, 3))),
    ('<dynamics damping="0"/>', 'damping', 0.0), ('<dynamics/>', 'damping', 0.0),
    ('', 'damping', 0.0), ('<dynamics/>', 'friction', 0.0), ('', 'friction', 0.0),
    ('<safety_controller k_velocity="0" k_position="1"/>', 'safety_controller', None),
    (SAFE.replace('-0.5', '0.6'), 'safety_controller', None),
    (SAFE, 'safety_controller', SafetyController(-0.5, 0.6, 3.0, 4.0)),
])
def test_a_field_is_read_and_has_a_default(more: str, field: str, value: object) -> None:
    assert getattr(only_joint(LIMIT + more), field) == value


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


def test_an_inertial_may_lack_its_inertia_and_a_link_its_inertial() -> None:
    text = robot('<link name="base"><inertial><mass value="2"/></inertial></link>')
    assert parse_urdf(text).links['base'].inertial == Inertial(Origin(), 2.0, (0.0,) * 6)
    assert parse_urdf(ARM).links['base'].inertial is None


@each(('numbers', 'mimic'), [
    ('', Mimic('a', 1.0, 0.0)), ('multiplier="0" offset="0"', Mimic('a', 0.0, 0.0)),
    ('multiplier="2" offset="0.5"', Mimic('a', 2.0, 0.5)),
])
def test_a_mimic_joint_follows_one_to_one_or_as_it_says(numbers: str, mimic: Mimic) -> None:
    text = robot(
        link('base'), link('one', 1.0), link('two', 1.0), joint('a', 'revolute', 'base', 'one'),
        joint('b', 'revolute', 'base', 'two', more=f'<mimic joint="a" {numbers}/>'),
    )
    assert parse_urdf(text).joints['b'].mimic == mimic


def test_parents_come_first_in_any_order_of_the_text() -> None:
    links = [link(f'link_{i}') for i in range(8)]
    joints = [joint(f'joint_{i}', 'fixed', f'link_{i - 1}', f'link_{i}') for i in range(1, 8)]
    expected = [f'joint_{i}' for i in range(1, 8)]
    rng = np.random.default_rng(0)
    for _ in range(10):
        text = robot(*rng.permutation(links), *rng.permutation(joints))
        assert list(parse_urdf(text).joints) == expected


def test_branches_keep_the_order_of_the_text_each_to_its_tip() -> None:
    names = ('base', 'left', 'left_tip', 'right', 'right_tip')
    text = robot(
        *map(link, names),
        joint('right', 'fixed', 'base', 'right'), joint('left', 'fixed', 'base', 'left'),
        joint('left_tip', 'fixed', 'left', 'left_tip'),
        joint('right_tip', 'fixed', 'right', 'right_tip'),
    )
    assert list(parse_urdf(text).joints) == ['right', 'right_tip', 'left', 'left_tip']


def test_a_link_and_a_joint_may_have_the_same_name() -> None:
    text = robot(link('base'), link('arm', 1.0), joint('arm', 'revolute', 'base', 'arm'))
    assert list(parse_urdf(text).joints) == ['arm']


def chain(*order: str) -> str:
    """Return joints c -> b -> a, in this order in the text, all in one row of links."""
    mimic = {
        'a': '', 'b': '<mimic joint="a" multiplier="2" offset="0.1"/>',
        'c': '<mimic joint="b" multiplier="-3" offset="0.5"/>',
    }
    parents = dict(zip(order, ('base', *order), strict=False))
    return robot(
        link('base'), *(link(name, 1.0) for name in order),
        *(joint(name, 'revolute', parents[name], name, more=mimic[name]) for name in order),
    )


@each('order', ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
def test_a_chain_of_mimic_joints_is_resolved_to_its_leader(order: str) -> None:
    joints = parse_urdf(chain(*order)).joints
    assert joints['a'].mimic is None
    assert joints['b'].mimic == Mimic('a', 2.0, 0.1)
    # c = -3 b + 0.5 = -3 (2 a + 0.1) + 0.5
    mimic = joints['c'].mimic
    assert mimic is not None
    assert mimic.joint == 'a'
    np.testing.assert_allclose((mimic.multiplier, mimic.offset), (-6.0, 0.2), rtol=1e-15)


def test_a_forgotten_prefix_is_completed_and_reported() -> None:
    names = ('left_1', 'right_1', 'left_2', 'right_2')
    mimic = '<mimic joint="1" multiplier="2"/>'
    description = parse_urdf(robot(link('base'), *(link(name, 1.0) for name in names), *(
        joint(name, 'revolute', 'base', name, more=mimic if name.endswith('2') else '')
        for name in names
    )))
    assert description.joints['left_2'].mimic == Mimic('left_1', 2.0, 0.0)
    assert description.joints['right_2'].mimic == Mimic('right_1', 2.0, 0.0)
    assert description.warnings == (
        "joint 'left_2' mimics '1', which does not exist; 'left_1' is used",
        "joint 'right_2' mimics '1', which does not exist; 'right_1' is used",
    )
