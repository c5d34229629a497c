# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is no usable URDF is rejected as a whole; the rejection names element, value, way out."""

from contextlib import suppress
from pathlib import Path
from random import Random
import warnings

import pytest

from rnea_ros import InputError, RneaError, RobotModel, UrdfError, UrdfWarning
from rnea_ros.urdf import MAX_BYTES, MAX_ELEMENTS, parse_urdf
from support.cases import each
from support.fuzz.hostile_files import mutated
from support.models.oracles import random_tree
from support.models.robots import SHIPPED, joint, link, robot
from support.tools import Printed

GOOD = (
    '<robot name="arm"><link name="base"/><link name="forearm">'
    '<inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
    '<joint name="elbow" type="revolute"><parent link="base"/><child link="forearm"/>'
    '<limit lower="-1" upper="1" velocity="2" effort="3"/></joint></robot>'
)
ELBOW, FOREARM = "joint 'elbow'", "link 'forearm'"
LIMIT = GOOD[GOOD.index('<limit') : GOOD.index('</joint>')]
MASS = '<mass value="2"/>'


def but(old: str, new: str) -> str:
    """Return the good arm with one fault."""
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def more(text: str) -> str:
    return but('</joint>', f'{text}</joint>')


def mass(value: str) -> str:
    return but('value="2"', f'value="{value}"')


def limit(old: str, new: str) -> str:
    return but(LIMIT, LIMIT.replace(old, new))


def tree(*joints: tuple[str, str]) -> str:
    """Return fixed joints by parent and child, named by both."""
    links = sorted({name for pair in joints for name in pair})
    return robot(*map(link, links), *(joint(a + b, 'fixed', a, b) for a, b in joints))


def mimics(kind: str = 'revolute', more: str = '', **leaders: str) -> str:
    """Return a chain of joints of one type, each following another."""
    names = list(leaders)
    joints = [
        joint(name, kind if name == 'palm' else 'revolute', parent, name,
              more=f'<mimic joint="{leader}"{more}/>' if leader else '')
        for parent, (name, leader) in zip(['base', *names], leaders.items(), strict=False)
    ]
    return robot(*map(link, ('base', *names)), *joints)


LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"/>'
)
QUADRATIC = f'<!DOCTYPE r [<!ENTITY a "{"x" * 50_000}">]><robot name="{"&a;" * 50_000}"/>'

MALFORMED: list[tuple[str, str, tuple[str, ...]]] = [
    # The text
    ('', 'URDF', ('empty',)), (' \n\t', 'URDF', ('empty',)),
    ('name: arm', 'URDF', ('not well-formed', 'line 1')),
    (GOOD.replace('arm', '\ud800'), 'URDF', ('surrogates',)),
    (f'<!--{"ä" * (MAX_BYTES // 2)}-->', 'URDF', ('over 16777216 bytes',)),
    # Names that would forge lines of a report, or fill it
    *((GOOD.replace(f'"{name}"', f'"{name}{more}"'), f"{tag} '{name}", (shown, 'rename it'))
      for tag, name in (('robot', 'arm'), ('link', 'forearm'), ('joint', 'elbow'))
      for more, shown in (('&#10;fine: nothing wrong', r'\nfine'), ('&#x9b;2J', r'\x9b2J'),
                          ('\u2028', r'\u2028'), (500 * 'x', 'over 500'))),
    # Document types, wherever they hide
    (LAUGHS, "document type 'lolz'", ('entity declarations',)),
    *((f'{before}{GOOD}', 'document type', ('DTD',)) for before in (
        '<!DOCTYPE robot>', '<!--robot-->\n<!DOCTYPE robot>', '\ufeff<!DOCTYPE robot>',
        '<!DOCTYPE robot SYSTEM "file:///r.dtd">', '<!DOCTYPE r [<!ATTLIST link name CDATA "a">]>',
        '<!DOCTYPE r [<!ENTITY % p "<!ENTITY a \'b\'>">%p;]>',
        '<!DOCTYPE r [<!ENTITY a SYSTEM "/dev/zero">]>',
        *(f'<?xml version="1.0" encoding="{name}"?><!DOCTYPE robot>'
          for name in ('utf-16', 'utf-7', 'no-such-encoding')),
    )),
    (QUADRATIC, 'document type', ('DTD',)),
    # The whole
    ('<sdf version="1.6"/>', 'element <sdf>', ('<robot>',)),
    ('<robot name="ur3"/>', "robot 'ur3'", ('no link',)),
    (robot('<link name="a"/>' * (MAX_ELEMENTS + 1)), 'robot', ('10001 links', 'at most 10000')),
    (robot('<link name="a"/><link/>'), 'link number 2', ('no name',)),
    (but('name="elbow"', ''), 'joint number 1', ('no name',)),
    (robot(link('a'), link('a')), "link 'a'", ('used 2 times',)),
    (but('</robot>', joint('elbow', 'fixed', 'forearm', 'base') + '</robot>'), ELBOW,
     ('used 2 times',)),
    (tree(('a', 'b'), ('c', 'd')), 'robot', ('2 root links', "'a', 'c'")),
    (tree(('a', 'b'), ('b', 'a')), 'robot', ('no root link', "['ab', 'ba']", 'cycle')),
    (tree(('r', 't'), ('a', 'b'), ('b', 'a')), "joint 'ab'", ("['ab', 'ba']", 'cycle')),
    (tree(('a', 'b'), ('a', 'c'), ('b', 'c')), "link 'c'", ('two joints', "'ac'", "'bc'")),
    # Raw xacro
    *((text, 'element', ('this is xacro: expand it with `xacro FILE`',)) for text in (
        but('<limit', '<xacro:insert_block name="b"/><limit'),
        but('<joint ', '<joint xacro:a="b" '), but('link="base"', 'link="${prefix}base"'),
        mass('${2 * m}'), but('"arm"', '"$(arg robot)"'),
        *(but('<link name="base"/>', f'<link name="base"/><{tag} name="b"/>')
          for tag in ('include', 'macro', 'if', 'unless')),
    )),
    # Joints
    (but('revolute', 'Revolute'), ELBOW, ("unknown type 'Revolute'", 'revolute')),
    (but('<parent link="base"/>', ''), ELBOW, ('no parent link',)),
    (but('<child link="forearm"/>', ''), ELBOW, ('no child link',)),
    (but('link="base"', 'link="bas"'), ELBOW, ("parent link 'bas' does not exist",)),
    (but('link="forearm"', 'link="Arm"'), ELBOW, ("child link 'Arm' does not exist",)),
    *((more(f'<axis xyz="{value}"/>'), ELBOW, ('axis', word)) for value, word in (
        ('0 0 0', '(0, 0, 0)'), ('0 nan 1', 'nan'), ('inf 0 0', 'inf'), ('0 1', "'0 1'"),
        ('0 0 up', "'up'"))),
    (more('<axis/>'), ELBOW, ('<axis>', 'xyz')),
    (more('<origin xyz="1 2"/>'), ELBOW, ('origin xyz', "'1 2'")),
    (more('<origin rpy=""/>'), ELBOW, ('origin rpy', '0 numbers')),
    (but(LIMIT, ''), ELBOW, ('revolute', '<limit>')),
    (but(LIMIT, '').replace('revolute', 'prismatic'), ELBOW, ('prismatic', '<limit>')),
    (more(LIMIT.replace('"3"', '"4"')), ELBOW,
     ('2 <limit>', 'effort="3" velocity="2" and lower', '"4"')),
    (more('<origin xyz="0 0 1"/><origin xyz="0 0 2" rpy="1 2 3"/>'), ELBOW,
     ('2 <origin> elements', 'xyz="0 0 1" and xyz="0 0 2" rpy="1 2 3"')),
    (more('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), ELBOW,
     ("quat_xyzw '0 0 0 1' and rpy '0 0 0' are given: keep one",)),
    *((more(f'<origin quat_xyzw="{text}"/>'), ELBOW, ('quat_xyzw', words)) for text, words in (
        ('0 0 0 2', "'0 0 0 2' is not of length 1"), ('0 0 0 0', 'not of length 1'),
        ('0 0 nan 1', 'not of length 1'), ('0 0 1', '3 numbers, not 4'), ('0 0 0 1_0', "'1_0'"),
        ('a b c d', "'a' is not a number"))),
    (but('rpy="0 0 0"', 'quat_xyzw="1 1 1 1"'), FOREARM, ('not of length 1',)),
    *((limit(old, new), ELBOW, words) for old, new, words in (
        (' effort="3"', '', ('limit', 'effort')), (' velocity="2"', '', ('limit', 'velocity')),
        ('"-1"', '"inf"', ('no position',)), ('"1"', '"-inf"', ('no position',)),
        ('"3"', '"-3"', ('effort -3 is',)), ('"2"', '"-2"', ('velocity -2 is',)),
        *((' effort', f' {name}="-1.23456789" effort', (f'{name} -1.23457 is negative',))
          for name in ('acceleration', 'deceleration', 'jerk')),
        (' effort', ' jerk="fast" effort', ("limit jerk: 'fast'",)),
        *((f'"{x}"', '"nan"', ('limit', 'nan')) for x in (-1, 1, 2, 3)))),
    (more('<dynamics damping="-0.5"/>'), ELBOW, ('damping -0.5 or', 'set 0 if it is unknown')),
    (more('<dynamics friction="-1e-8"/>'), ELBOW, ('friction -1e-08',)),
    (more('<dynamics damping="nan"/>'), ELBOW, ('damping', 'nan')),
    # Mimic joints
    (mimics(a='', b='x'), "joint 'b'", ("'x'", 'does not exist')),
    (mimics(a='a'), "joint 'a'", ('mimics itself: a -> a',)),
    (mimics(d='a', a='b', b='a'), "joint 'd'", ('d -> a -> b -> a',)),
    *((mimics(kind, palm='', finger='palm'), "joint 'finger'", (f"joint 'palm' is {kind}",))
      for kind in ('fixed', 'planar', 'floating')),
    (more('<mimic/>'), ELBOW, ('mimic', 'joint')),
    (more('<mimic joint="x" multiplier="nan"/>'), ELBOW, ('mimic multiplier', 'nan')),
    (mimics(more=' multiplier="1e200"', a='', b='a', c='b'), "joint 'c'",
     ('multiplier inf', 'not finite')),
    (mimics(left_a='', lefta='', left_b='a'), "joint 'left_b'", ("'a'", 'does not exist')),
    # Mass
    *((mass(value), FOREARM, ('mass', value)) for value in (
        'nan', 'inf', '-2', 'heavy', '2_0', '\uff12', '2 0')),
    (but(MASS, ''), FOREARM, ('no <mass>',)), (but(MASS, '<mass>2</mass>'), FOREARM, ('<mass>',)),
    (but('ixy="0"', 'ixy="nan"'), FOREARM, ('inertia', 'nan')),
    (but('ixy="0"', ''), FOREARM, ('inertia', 'ixy')),
    (but('0 0 0.1', '0 0 nan'), FOREARM, ('inertial', 'nan')),
]


@each(('text', 'element', 'words'), MALFORMED)
def test_a_rejection_is_a_sentence_with_element_and_value_and_nothing_else(
    text: str, element: str, words: tuple[str, ...], capfd: Printed
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(UrdfError) as caught:
            parse_urdf(text)
    message = str(caught.value)
    assert caught.value.element.startswith(element)
    assert message == f'{caught.value.element}: {caught.value.reason}'
    assert not [word for word in words if word not in message]
    assert len(message) < 300
    assert '\n' not in message
    assert capfd.readouterr() == ('', '')


@each(('text', 'element', 'words'), [
    (but('izz="0.1"', 'izz="-1"'), FOREARM, ('negative principal moment', '-1')),
    (but('ixy="0"', 'ixy="0.2"'), FOREARM, ('negative principal moment', '-0.1')),
    (but('izz="0.1"', 'izz="0.2000003"'), FOREARM, ('triangle inequality',)),
    (robot(link('base', 1.0, inertia=(1e308,) * 6)), "link 'base'", ('too large',)),
    (mass('0'), FOREARM, ('the mass is zero',)),
])
def test_an_inertia_of_no_body_is_a_warning_or_an_error(
    text: str, element: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(text, strict_inertia=True)
    assert caught.value.element == element
    warning, *_ = parse_urdf(text).warnings
    for word in (element, *words):
        assert word in str(caught.value)
        assert word in warning


ENTITY = '<!DOCTYPE robot [<!ENTITY name "arm">]>' + but('"arm"', '"&name;"')


@each(('content', 'reason'), [
    (b'\x89PNG\r\n\x1a\n\x00\xff\xfe', 'cannot read'), (b'', 'empty'),
    (b'\x7fELF\x02\x01\x01\x00', 'not well-formed'), (GOOD.encode('utf-16'), 'cannot read'),
    (b' ' * (MAX_BYTES + 1), 'over 16777216 bytes'),
    (b' ' * MAX_BYTES + b'\xc3\xa4', 'over 16777216 bytes'),
    *((f'<?xml version="1.0" encoding="{name}"?>{ENTITY}'.encode(name),
       'cannot read|not well-formed|DTD') for name in ('utf-8', 'utf-16-le', 'utf-32', 'utf-7')),
])
def test_a_file_must_be_a_urdf(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / 'robot.urdf'
    path.write_bytes(content)
    with pytest.raises(UrdfError, match=reason):
        RobotModel.from_urdf(path)


SEEDS = (SHIPPED[0].read_text(encoding='utf-8'), *map(random_tree, range(5)))


def survive(text: str) -> None:
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)
        try:
            model = RobotModel.from_urdf(text)
        except RneaError as caught:
            error = caught
    if error is not None:
        assert len(str(error)) < 1300
        return
    q = model.neutral_position
    with suppress(InputError):  # results above the largest float
        assert model.gravity_torques(q).shape == (model.nv,)
    for name in model.link_names:
        with suppress(InputError):
            assert model.forward_kinematics(q, name).shape == (4, 4)


def test_a_robot_with_mutations() -> None:
    random = Random(1)
    for _ in range(300):
        text = mutated(random, random.choice(SEEDS), random.choice(SEEDS))
        survive('<' + text.lstrip('\ufeff \t\r\n<'))


def test_a_long_chain_of_mimic_joints_takes_no_power_of_its_length() -> None:
    n = 2000
    text = robot(link('l0'), *(
        link(f'l{i}') + joint(
            f'j{i}', 'continuous', f'l{i - 1}', f'l{i}',
            more=f'<mimic joint="j{i + 1}"/>' if i < n else '',
        )
        for i in range(1, n + 1)
    ))
    leaders = {one.mimic and one.mimic.joint for one in parse_urdf(text).joints.values()}
    assert leaders == {f'j{n}', None}


def test_a_link_too_far_away_for_its_inertia_is_read_without_a_warning() -> None:
    survive(robot(link('base'), link('arm', 4.0, (-1e158, 0.0, 0.0)),
                  joint('a', 'continuous', 'base', 'arm')))
