# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is no usable URDF is rejected as a whole, and the rejection names the element and value."""

from pathlib import Path
import threading
from typing import Any
import warnings

import pytest

from rnea_ros import RobotModel, UrdfError
from rnea_ros.urdf import MAX_BYTES, MAX_ELEMENTS, parse_urdf
from support.cases import each
from support.models.robots import joint, link, robot
from support.tools import Printed

INERTIAL = (
    '<inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'


def arm(inertial: str = INERTIAL, more: str = LIMIT, kind: str = 'type="revolute"') -> str:
    """Return a robot of two links with a joint ``elbow``, to break in one place."""
    return (
        f'<robot name="arm"><link name="base"/><link name="forearm">{inertial}</link>'
        f'<joint name="elbow" {kind}><parent link="base"/><child link="forearm"/>{more}</joint>'
        '</robot>'
    )


def arm_without(tag: str) -> str:
    """Return the arm without one element of its joint."""
    ends = {'parent': '<parent link="base"/>', 'child': '<child link="forearm"/>'}
    return arm().replace(ends[tag], '')


GOOD = arm()
BILLION_LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"/>'
)
TWO_TREES = robot(
    link('a'), link('b'), link('c'), link('d'),
    joint('ab', 'fixed', 'a', 'b'), joint('cd', 'fixed', 'c', 'd'),
)
CYCLE = robot(link('a'), link('b'), joint('ab', 'fixed', 'a', 'b'), joint('ba', 'fixed', 'b', 'a'))
CYCLE_BESIDE_A_TREE = robot(
    link('root'), link('tip'), link('a'), link('b'), joint('good', 'fixed', 'root', 'tip'),
    joint('ab', 'fixed', 'a', 'b'), joint('ba', 'fixed', 'b', 'a'),
)
TWO_PARENTS = robot(
    link('a'), link('b'), link('c'), joint('ab', 'fixed', 'a', 'b'),
    joint('ac', 'fixed', 'a', 'c'), joint('bc', 'fixed', 'b', 'c'),
)


def mimics(**leaders: str) -> str:
    """Return a chain of revolute joints, each following another."""
    names = list(leaders)
    links = [link(name) for name in ('base', *names)]
    joints = [
        joint(name, 'revolute', parent, name, more=f'<mimic joint="{leader}"/>' if leader else '')
        for parent, (name, leader) in zip(['base', *names], leaders.items(), strict=False)
    ]
    return robot(*links, *joints)


def mimic_of_a(kind: str) -> str:
    """Return a finger that follows its palm, which no single number moves."""
    return robot(
        link('base'), link('palm'), link('finger'), joint('palm', kind, 'base', 'palm'),
        joint('finger', 'revolute', 'palm', 'finger', more='<mimic joint="palm"/>'),
    )


def mimic_that_is(kind: str) -> str:
    """Return a palm that follows its finger, and that no single number moves."""
    return robot(
        link('base'), link('finger'), link('palm'), joint('finger', 'revolute', 'base', 'finger'),
        joint('palm', kind, 'base', 'palm', more='<mimic joint="finger"/>'),
    )


def case(name: str, text: str, element: str, *words: str) -> Any:
    """Return a text, the element at fault, and what the rejection must say."""
    return pytest.param(text, element, words, id=name)


ELBOW, FOREARM = "joint 'elbow'", "link 'forearm'"

MALFORMED = [
    # The text
    case('empty', '', 'URDF', 'empty'),
    case('blank', ' \n\t', 'URDF', 'empty'),
    case('no-xml', 'name: arm', 'URDF', 'not well-formed', 'line 1'),
    case('cut-off', GOOD[:-20], 'URDF', 'not well-formed'),
    case('unclosed-element', GOOD.replace('</link>', ''), 'URDF', 'mismatched tag'),
    case('two-documents', GOOD + GOOD, 'URDF', 'junk after document element'),
    case('null-character', GOOD.replace('arm', 'a\0m'), 'URDF', 'not well-formed'),
    case('half-a-character', GOOD.replace('arm', '\ud800'), 'URDF', 'surrogates'),
    case('too-large', f'<robot name="{"x" * MAX_BYTES}"/>', 'URDF', 'over 16777216 bytes'),
    case('too-large-encoded', f'<!--{"ä" * (MAX_BYTES // 2)}-->', 'URDF', 'over 16777216 bytes'),
    case('dtd', f'<!DOCTYPE robot>{GOOD}', "document type 'robot'", 'DTD'),
    case('dtd-file', f'<!DOCTYPE r SYSTEM "file:///r.dtd">{GOOD}', "document type 'r'", 'DTD'),
    case('billion-laughs', BILLION_LAUGHS, "document type 'lolz'", 'entity declarations'),
    case('entity', GOOD.replace('"arm"', '"&arm;"'), 'URDF', 'undefined entity'),
    # The whole
    case('root-element', '<sdf version="1.6"/>', 'element <sdf>', '<robot>'),
    case('prefix', '<x:robot xmlns:x="http://x.org"/>', 'element <x:robot>', '<robot>'),
    case('no-link', '<robot name="ur3"/>', "robot 'ur3'", 'no link'),
    case('many-links', robot('<link name="a"/>' * (MAX_ELEMENTS + 1)), "robot 'robot'",
         '10001 links', 'at most 10000'),
    case('nameless-link', robot('<link name="a"/><link/>'), 'link number 2', 'no name'),
    case('blank-name', robot('<link name=""/>'), 'link number 1', 'no name'),
    case('nameless-joint', GOOD.replace('name="elbow"', ''), 'joint number 1', 'no name'),
    case('link-name-twice', robot(link('a'), link('a')), "link 'a'", 'used 2 times'),
    case(
        'joint-name-twice',
        GOOD.replace('</robot>', joint('elbow', 'fixed', 'forearm', 'base') + '</robot>'),
        ELBOW, 'used 2 times',
    ),
    case('two-roots', TWO_TREES, 'robot', '2 root links', "'a', 'c'"),
    case('lone-link', GOOD.replace('</robot>', '<link name="lone"/></robot>'), 'robot', "'lone'"),
    case('cycle', CYCLE, 'robot', 'no root link', "['ab', 'ba']", 'cycle'),
    case('cycle-beside-tree', CYCLE_BESIDE_A_TREE, "joint 'ab'", "['ab', 'ba']", 'cycle'),
    case('own-parent', GOOD.replace('link="base"', 'link="forearm"'), ELBOW, 'cycle'),
    case('two-parents', TWO_PARENTS, "link 'c'", 'child of two joints', "'ac'", "'bc'"),
    # Joints
    case('unknown-type', arm(kind='type="hinge"'), ELBOW, "unknown type 'hinge'", 'revolute'),
    case('upper-case-type', arm(kind='type="Revolute"'), ELBOW, "unknown type 'Revolute'"),
    case('no-type', arm(kind=''), ELBOW, 'unknown type None'),
    case('no-parent', arm_without('parent'), ELBOW, 'no parent link'),
    case('no-child', arm_without('child'), ELBOW, 'no child link'),
    case('blank-parent', GOOD.replace('"base"/><child', '""/><child'), ELBOW, 'no parent link'),
    case(
        'unknown-parent', GOOD.replace('<parent link="base"', '<parent link="bas"'),
        ELBOW, "parent link 'bas' does not exist",
    ),
    case(
        'unknown-child', GOOD.replace('<child link="forearm"', '<child link="Forearm"'),
        ELBOW, "child link 'Forearm' does not exist",
    ),
    case('zero-axis', arm(more=LIMIT + '<axis xyz="0 0 0"/>'), ELBOW, 'axis', '(0.0, 0.0, 0.0)'),
    case('nan-axis', arm(more=LIMIT + '<axis xyz="0 nan 1"/>'), ELBOW, 'axis', 'nan'),
    case('infinite-axis', arm(more=LIMIT + '<axis xyz="inf 0 0"/>'), ELBOW, 'axis', 'inf'),
    case('two-number-axis', arm(more=LIMIT + '<axis xyz="0 1"/>'), ELBOW, 'axis xyz', "'0 1'"),
    case('axis-of-words', arm(more=LIMIT + '<axis xyz="0 0 up"/>'), ELBOW, 'axis xyz', "'up'"),
    case('axis-with-commas', arm(more=LIMIT + '<axis xyz="0,0,1"/>'), ELBOW, "'0,0,1'"),
    case('bare-axis', arm(more=LIMIT + '<axis/>'), ELBOW, '<axis>', 'xyz'),
    case('two-axes', arm(more=LIMIT + '<axis xyz="0 0 1"/><axis xyz="0 1 0"/>'), ELBOW,
         '2 <axis>'),
    case('origin-count', arm(more=LIMIT + '<origin xyz="1 2"/>'), ELBOW, 'origin xyz', "'1 2'"),
    case('origin-blank', arm(more=LIMIT + '<origin rpy=""/>'), ELBOW, 'origin rpy', '0 numbers'),
    case('origin-nan', arm(more=LIMIT + '<origin xyz="0 0 nan"/>'), ELBOW, 'origin xyz', 'nan'),
    case('origin-inf', arm(more=LIMIT + '<origin rpy="-inf 0 0"/>'), ELBOW, 'origin rpy', '-inf'),
    case('origin-formula', arm(more=LIMIT + '<origin rpy="0 pi 0"/>'), ELBOW, 'origin', "'pi'"),
    case('revolute-no-limit', arm(more=''), ELBOW, 'revolute', '<limit>'),
    case('prismatic-no-limit', arm(more='', kind='type="prismatic"'), ELBOW, '<limit>'),
    case('two-limits', arm(more=LIMIT + LIMIT.replace('"3"', '"4"')), ELBOW, '2 <limit>'),
    case('no-effort', arm(more=LIMIT.replace('effort="3"', '')), ELBOW, 'limit', 'effort'),
    case('no-velocity', arm(more=LIMIT.replace('velocity="2"', '')), ELBOW, 'limit', 'velocity'),
    case('no-position', arm(more=LIMIT.replace('"-1"', '"inf"')), ELBOW, 'no position'),
    case('negative-effort', arm(more=LIMIT.replace('"3"', '"-3"')), ELBOW, 'effort -3.0'),
    case('negative-velocity', arm(more=LIMIT.replace('"2"', '"-2"')), ELBOW, 'velocity -2.0'),
    case('nan-lower', arm(more=LIMIT.replace('"-1"', '"nan"')), ELBOW, 'limit', 'nan'),
    case('nan-effort', arm(more=LIMIT.replace('"3"', '"NaN"')), ELBOW, 'limit', 'nan'),
    case('limit-of-words', arm(more=LIMIT.replace('"3"', '"big"')), ELBOW, 'effort', "'big'"),
    case('damping', arm(more=LIMIT + '<dynamics damping="-0.5"/>'), ELBOW,
         'damping -0.5', 'negative; set 0 if it is unknown'),
    case('friction', arm(more=LIMIT + '<dynamics friction="-7"/>'), ELBOW, 'friction -7.0'),
    case('nan-damping', arm(more=LIMIT + '<dynamics damping="nan"/>'), ELBOW, 'damping', 'nan'),
    # Mimic joints
    case('mimic-missing', mimics(a='', b='x'), "joint 'b'", "'x'", 'does not exist'),
    case('mimic-itself', mimics(a='a'), "joint 'a'", 'mimics itself: a -> a'),
    case('mimic-cycle', mimics(a='b', b='c', c='a'), "joint 'a'", 'a -> b -> c -> a'),
    case('mimic-of-cycle', mimics(d='a', a='b', b='a'), "joint 'd'", 'd -> a -> b -> a'),
    case('mimic-of-fixed', mimic_of_a('fixed'), "joint 'finger'", "joint 'palm' is fixed"),
    case('mimic-of-planar', mimic_of_a('planar'), "joint 'finger'", "joint 'palm' is planar"),
    case('mimic-of-floating', mimic_of_a('floating'), "joint 'finger'", "'palm' is floating"),
    case('mimic-by-planar', mimic_that_is('planar'), "joint 'palm'", "joint 'palm' is planar"),
    case('mimic-by-floating', mimic_that_is('floating'), "joint 'palm'", "'palm' is floating"),
    case('mimic-nothing', arm(more=LIMIT + '<mimic/>'), ELBOW, 'mimic', 'joint'),
    case('two-mimics', arm(more=LIMIT + '<mimic joint="x"/><mimic joint="y"/>'), ELBOW,
         '2 <mimic>'),
    case(
        'mimic-nan', arm(more=LIMIT + '<mimic joint="x" multiplier="nan"/>'),
        ELBOW, 'mimic multiplier', 'nan',
    ),
    case(
        'mimic-too-far', mimics(a='', b='a', c='b').replace(
            '<mimic ', '<mimic multiplier="1e200" '), "joint 'c'", 'multiplier inf', 'not finite',
    ),
    case(
        'mimic-ambiguous-prefix', mimics(left_a='', lefta='', left_b='a'),
        "joint 'left_b'", "'a'", 'does not exist',
    ),
    # Mass
    case('nan-mass', arm(INERTIAL.replace('"2"', '"nan"')), FOREARM, 'mass', 'nan'),
    case('infinite-mass', arm(INERTIAL.replace('"2"', '"inf"')), FOREARM, 'mass', 'inf'),
    case('negative-mass', arm(INERTIAL.replace('"2"', '"-2"')), FOREARM, 'mass -2.0'),
    case('mass-of-words', arm(INERTIAL.replace('"2"', '"heavy"')), FOREARM, 'mass', "'heavy'"),
    case('mass-of-python', arm(INERTIAL.replace('"2"', '"2_0"')), FOREARM, 'mass', "'2_0'"),
    case('wide-digits', arm(INERTIAL.replace('"2"', '"\uff12"')), FOREARM, 'mass', '\uff12'),
    case('two-numbers', arm(INERTIAL.replace('"2"', '"2 0"')), FOREARM, 'mass', "'2 0'"),
    case('missing-mass', arm(INERTIAL.replace('<mass value="2"/>', '')), FOREARM, 'no <mass>'),
    case('mass-as-text', arm(INERTIAL.replace(' value="2"/>', '>2</mass>')), FOREARM, '<mass>'),
    case('two-masses', arm(INERTIAL.replace('<mass', '<mass value="1"/><mass')), FOREARM,
         '2 <mass>'),
    case('two-inertials', arm(2 * INERTIAL), FOREARM, '2 <inertial>'),
    case('nan-inertia', arm(INERTIAL.replace('ixy="0"', 'ixy="nan"')), FOREARM, 'inertia', 'nan'),
    case('no-ixy', arm(INERTIAL.replace('ixy="0"', '')), FOREARM, 'inertia', 'ixy'),
    case('nan-com', arm(INERTIAL.replace('0 0 0.1', '0 0 nan')), FOREARM, 'inertial', 'nan'),
]

NOT_PHYSICAL = [
    case('indefinite', arm(INERTIAL.replace('izz="0.1"', 'izz="-1"')), FOREARM,
         'negative principal moment', '-1'),
    case('off-diagonal', arm(INERTIAL.replace('ixy="0"', 'ixy="0.2"')), FOREARM,
         'negative principal moment', '-0.1'),
    case('triangle', arm(INERTIAL.replace('izz="0.1"', 'izz="0.3"')), FOREARM,
         'triangle inequality', '0.3'),
    case('too-large', robot(link('base', 1.0, inertia=(1e308,) * 6)), "link 'base'", 'too large'),
    case('massless', arm(INERTIAL.replace('"2"', '"0"')), FOREARM, 'the mass is zero'),
]


def rejection(text: str) -> UrdfError:
    with pytest.raises(UrdfError) as caught:
        parse_urdf(text)
    return caught.value


def test_the_unbroken_arm_is_accepted() -> None:
    assert parse_urdf(GOOD, strict_inertia=True).warnings == ()


@each(('text', 'element', 'words'), MALFORMED)
def test_a_rejection_is_a_sentence_with_element_and_value_and_nothing_else(
    text: str, element: str, words: tuple[str, ...], capfd: Printed
) -> None:
    before, threads = parse_urdf(GOOD), set(threading.enumerate())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        error = rejection(text)
    message = str(error)
    assert error.element.startswith(element)
    assert message == f'{error.element}: {error.reason}'
    for word in words:
        assert word in message
    assert len(message) < 300
    assert '\n' not in message
    assert parse_urdf(GOOD) == before
    assert set(threading.enumerate()) <= threads
    assert caught == []
    assert capfd.readouterr() == ('', '')


@each(('text', 'element', 'words'), NOT_PHYSICAL)
def test_warnings_and_errors_say_the_same(text: str, element: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(text, strict_inertia=True)
    assert caught.value.element == element
    warning, *_ = parse_urdf(text).warnings
    for word in (element, *words):
        assert word in str(caught.value)
        assert word in warning


def test_an_external_entity_reads_no_file(tmp_path: Path) -> None:
    secret = tmp_path / 'secret'
    secret.write_text('the secret', encoding='utf-8')
    declaration = f'<!DOCTYPE robot [<!ENTITY leak SYSTEM "{secret.as_uri()}">]>'
    error = rejection(declaration + GOOD.replace('name="arm"', 'name="&leak;"'))
    assert 'the secret' not in str(error)
    assert 'DTD' in str(error)


def test_an_external_entity_in_a_parameter_reads_no_file(tmp_path: Path) -> None:
    grammar = tmp_path / 'robot.dtd'
    grammar.write_text('<!ENTITY arm "the secret">', encoding='utf-8')
    declaration = f'<!DOCTYPE robot [<!ENTITY % all SYSTEM "{grammar.as_uri()}"> %all;]>'
    assert 'the secret' not in str(rejection(declaration + GOOD))


QUADRATIC = f'<!DOCTYPE r [<!ENTITY a "{"x" * 50_000}">]><robot name="{"&a;" * 50_000}"/>'
HIDDEN = [
    pytest.param(f'<!--robot-->\n<!DOCTYPE robot>{GOOD}', id='behind-a-comment'),
    pytest.param(f'<?robot arm?><!DOCTYPE robot>{GOOD}', id='behind-an-instruction'),
    pytest.param(f'<?xml version="1.0"?>\n<!DOCTYPE robot>{GOOD}', id='behind-a-declaration'),
    pytest.param(f'\ufeff<!DOCTYPE robot>{GOOD}', id='behind-a-mark'),
    pytest.param(f'<!DOCTYPE robot PUBLIC "-//a//b" "http://127.0.0.1:9/a">{GOOD}', id='public'),
    pytest.param(f'<!DOCTYPE r [<!ENTITY % p "<!ENTITY a \'b\'>">%p;]>{GOOD}', id='parameter'),
    pytest.param(f'<!DOCTYPE r [<!ATTLIST link name CDATA "a">]>{GOOD}', id='default-attribute'),
    pytest.param(f'<!DOCTYPE r [<!ENTITY a SYSTEM "/dev/zero">]>{GOOD}', id='endless-file'),
    pytest.param(QUADRATIC, id='quadratic-blow-up'),
    *(
        pytest.param(f'<?xml version="1.0" encoding="{name}"?><!DOCTYPE robot>{GOOD}', id=name)
        for name in ('utf-16', 'utf-7', 'latin-1', 'no-such-encoding')
    ),
]


@pytest.mark.parametrize('text', HIDDEN)
def test_a_document_type_is_rejected_wherever_it_hides(text: str, tmp_path: Path) -> None:
    assert 'DTD' in str(rejection(text))
    path = tmp_path / 'robot.urdf'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(UrdfError, match='DTD'):
        RobotModel.from_urdf(path)


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-7'])
def test_another_encoding_hides_no_document_type(encoding: str, tmp_path: Path) -> None:
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    entity = '<!DOCTYPE robot [<!ENTITY name "arm">]>'
    path = tmp_path / 'robot.urdf'
    path.write_bytes((declaration + entity + GOOD.replace('"arm"', '"&name;"')).encode(encoding))
    with pytest.raises(UrdfError, match=r'cannot read|not well-formed|DTD'):
        RobotModel.from_urdf(path)


def test_a_declared_encoding_changes_no_text_that_is_decoded_already() -> None:
    for encoding in ('utf-8', 'utf-16', 'latin-1'):
        text = f'<?xml version="1.0" encoding="{encoding}"?>{GOOD.replace("arm", "bär")}'
        assert parse_urdf(text).name == 'bär'


def test_a_document_type_from_xacro_is_rejected(tmp_path: Path) -> None:
    xacro = pytest.importorskip('xacro', reason='xacro is not installed')
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(f'<!DOCTYPE robot [<!ENTITY name "arm">]>{GOOD}', encoding='utf-8')
    expanded = xacro.process_file(str(path)).toxml()
    assert '<!DOCTYPE' in expanded
    assert 'DTD' in str(rejection(expanded))
    path.write_text(GOOD, encoding='utf-8')
    assert parse_urdf(xacro.process_file(str(path)).toxml()).name == 'arm'


@pytest.mark.parametrize(('content', 'reason'), [
    pytest.param(b'\x89PNG\r\n\x1a\n\x00\xff\xfe', 'cannot read', id='binary'),
    pytest.param(b'\x7fELF\x02\x01\x01\x00', 'not well-formed', id='binary-in-ascii'),
    pytest.param(b'', 'empty', id='empty'),
    pytest.param(GOOD.encode('utf-16'), 'cannot read', id='utf-16'),
    pytest.param(GOOD.replace('arm', 'b\xe4r').encode('latin-1'), 'cannot read', id='latin-1'),
    pytest.param(b' ' * (MAX_BYTES + 1), 'over 16777216 bytes', id='too-large'),
    pytest.param(b' ' * MAX_BYTES + b'\xc3\xa4', 'over 16777216 bytes', id='cut-letter'),
])
def test_a_file_must_be_a_urdf(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / 'robot.urdf'
    path.write_bytes(content)
    with pytest.raises(UrdfError, match=reason):
        RobotModel.from_urdf(path)


@pytest.mark.parametrize('name', ['no_such.urdf', 'folder', 'no\0such.urdf', 'x' * 300])
def test_a_path_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / 'folder').mkdir()
    path = str(tmp_path / name)
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(path)
    assert caught.value.element == 'URDF'
    assert repr(path)[1:150] in str(caught.value)
