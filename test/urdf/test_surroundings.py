# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a URDF may hold beside the robot; its warnings and sources."""

import os
from pathlib import Path
import re

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel, UrdfError, UrdfWarning
from rnea_ros.feedforward.settings import NodeSettings, complete_values, resolve, settings_from
from rnea_ros.urdf import JointLimits, parse_urdf, read_urdf
from support.cases import each
from support.models.robots import ARM, SHIPPED, joint, link, load, robot, vendor_robots
from support.tools import Printed

BROKEN_DECORATION = (
    '<material name="red"/><material/>'
    '<transmission name="t"><joint name="nowhere"/></transmission><transmission/>'
    '<gazebo reference="nowhere"><plugin/><sensor:camera x="1"/></gazebo><x:link name="arm"/>'
    '<ros2_control name="x" type="system"><joint name="nowhere"/></ros2_control>'
    '<mujoco><compiler/></mujoco><sensor/>text<b:a>' + '<a>' * 100_000 + '</a>' * 100_000
    + '</b:a>'
)
BROKEN_SHAPES = (
    '<visual><geometry><mesh filename="package://no/such.dae" scale="a b"/></geometry>'
    '<material name="m"><texture/></material></visual><visual/>'
    '<collision><geometry/></collision><collision name="c"><origin xyz="nan"/></collision>text'
)
SAFE = '<safety_controller k_velocity="1" k_position="2"/>'


def chain(mass: float, inertia: tuple[float, ...]) -> str:
    """Return an arm of three equal links that reaches 1 m."""
    return robot(link('base'), *(link(f'l{k}', mass, inertia=inertia) for k in (1, 2, 3)), *(
        joint(f'j{k}', 'revolute', f'l{k - 1}' if k > 1 else 'base', f'l{k}', xyz=(x, 0, 0))
        for k, x in ((1, 0.2), (2, 0.4), (3, 0.4))
    ))


def gripper(multiplier: str, lower: str, upper: str) -> str:
    """Return a finger of 0 to 0.8 rad, and one with other limits that mimics it."""
    mimic = f'<mimic joint="knuckle" multiplier="{multiplier}"/>'
    joints = (
        (joint('knuckle', 'revolute', 'base', 'a'), '0', '0.8'),
        (joint('inner', 'revolute', 'a', 'b', more=mimic), lower, upper),
    )
    return robot(link('base'), link('a', 0.1), link('b', 0.1), *(
        text.replace('"-3"', f'"{low}"').replace('"3"', f'"{high}"') for text, low, high in joints
    ))


@each('text', [
    ARM.replace('</robot>', f'{BROKEN_DECORATION}</robot>'),
    ARM.replace('<inertial>', f'{BROKEN_SHAPES}<inertial>'),
    ARM.replace('<mass', '<x:density value="x"/>text<mass'),
    ARM.replace('<axis', '<calibration rising="a"/><x:hardwareInterface/>text<axis'),
    ARM.replace('<robot ', '<robot version="1.2" '), ARM.replace('<link ', '<link type="laser" '),
    *(re.sub(rf'<{tag}\b', f'<{tag} xmlns:x="http://x.org" x:note="2"', ARM)
      for tag in ('robot', 'link', 'joint', 'inertial', 'mass', 'inertia', 'origin', 'limit')),
    ARM.replace('<robot ', '<robot xmlns="http://drake.mit.edu" '),
    ARM.replace('<link ', '<link xmlns="" '), ARM.replace('<inertial', '<inertial xmlns="a"'),
    re.sub(r'(<(?:axis|limit|parent|child)[^>]*/>)', r'\1<!-- again -->\1', ARM),
    # Remains of xacro
    ARM.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '),
    ARM.replace('<joint', '<!-- <xacro:arm/> ${x} --><joint'),
    ARM.replace('</robot>', '<gazebo><p x="${HOME}">$(find a)</p></gazebo></robot>'),
    *(ARM.replace('</joint>', f'<dynamics {friction}/></joint>') for friction in (
        'damping="-7.6e-24"', 'damping="-1e-10" friction="-0"')),
])
def test_what_the_dynamics_do_not_need_changes_nothing(text: str, capfd: Printed) -> None:
    assert text != ARM
    assert parse_urdf(text) == parse_urdf(ARM)
    assert capfd.readouterr() == ('', '')


@each(('kind', 'more'), [
    *((kind, axis) for kind in ('fixed', 'floating') for axis in (
        '<axis/>', '<axis xyz="0 0 0"/>', '<axis xyz="a b c"/>', '<axis xyz="1 0 0"/><axis/>')),
    *(('fixed', more) for more in (
        '<limit effort="x"/>', '<dynamics damping="-1"/>', '<mimic/>')),
])
def test_what_has_no_meaning_in_a_joint_is_not_read(kind: str, more: str) -> None:
    mount = joint('mount', kind, 'base', 'arm').replace('<axis xyz="0.0 0.0 1.0"/>', '')
    one, other = (
        parse_urdf(robot(link('base'), link('arm', 1.0), text))
        for text in (mount, mount.replace('</joint>', f'{more}</joint>'))
    )
    assert one == other


@each(('text', 'warning'), [
    (ARM.replace('<axis', '<safety_controller k_velocity="nan"/><axis'),
     "joint 'shoulder': <safety_controller> is not used: "),
    (ARM.replace('<axis', f'{SAFE[:-2]} soft_lower_limit="1" soft_upper_limit="-1"/><axis'),
     "<safety_controller> is not used: soft_lower_limit '1', soft_upper_limit '-1', k_position"),
    (ARM.replace(' name="robot"', ''), 'the robot has no name'),
    (robot(link('base', 1.0), link('a'), link('b', 1.0), joint('ja', 'revolute', 'base', 'a'),
           joint('jb', 'revolute', 'a', 'b')),
     "link 'a' moves with joint 'ja' but has no mass and no inertia"),
    (robot(*map(link, 'bac'), *(joint(*names) for names in (
        ('ja', 'revolute', 'b', 'a'), ('jc', 'revolute', 'a', 'c')))),
     'no moving link has a mass: all efforts are zero; give the links an <inertial>'),
    (robot(link('base'), link('a', 0.0), link('b', 1.0), joint('ja', 'revolute', 'base', 'a'),
           joint('jb', 'revolute', 'a', 'b')), "link 'a': inertia is not zero, but the mass is "
     'zero (principal moments 0.1, 0.1, 0.1); it is used unchanged'),
    (ARM.replace('lower="-3" upper="3"', 'lower="3.14159265358979" upper="-3"'),
     "joint 'shoulder': limit lower 3.14159 is above upper -3;"),
    # Not understood
    *((re.sub(rf'<{tag}\b', f'<{tag} reflect="1" Axis="2" x:note="3"', ARM),
       f'{owner}: not understood and not used in <{tag}>: reflect, Axis{more}')
      for tag, owner, more in (
          ('robot', "robot 'robot'", ''), ('link', "link 'base'", ', 2 times in all'),
          ('joint', "joint 'shoulder'", ''), ('inertial', "link 'arm'", ''),
          ('mass', "link 'arm'", ''), ('inertia', "link 'arm'", ''),
          ('origin', "link 'arm'", ', 2 times in all'), ('axis', "joint 'shoulder'", ''),
          ('limit', "joint 'shoulder'", ''), ('child', "joint 'shoulder'", ''))),
    *((ARM.replace(f'</{tag}>', f'<{part}/></{tag}>'), f'not understood and not used in <{tag}>')
      for tag, part in (('robot', 'loop'), ('link', 'origin'), ('inertial', 'density'),
                        ('joint', 'mimc'))),
    *((ARM.replace('</joint>', f'{more}</joint>'), f'not understood and not used in {text}')
      for more, text in (
          ('<dynamics K="1" D="2"/>', '<dynamics>: K, D'),
          (SAFE.replace('k_pos', 'pos'), '<safety_controller>: position'))),
    (ARM.replace('<inertial>', '<collision><origin quat="1 0 0 0"/></collision><inertial>'),
     "link 'arm': not understood and not used in <origin>: quat"),
    # Not plausible
    (chain(1e-5, (2e-4, 0, 0, 1.7e-3, 0, 1.7e-3)), "link 'l1': mass 1e-05 kg and inertia 0.0017 "
     'kg m^2 give a radius of gyration of 13 m in a robot of 1 m; are the units kg and kg m^2? '
     '(3 links in all)'),
    *((chain(mass, tuple(0.01 * mass * m for m in (1, 0, 0, 1, 0, 1))),
       f'the moving links have a mass of {total} kg in a robot of 1 m; are the units kg and m?')
      for mass, total in ((3e-5, '9e-05'), (88e3, '2.64e+05'))),
    # Ranges of mimic joints
    (gripper('-1', '0', '0.8757'), "joint 'inner': its limits, 0 to 0.8757, contradict those of "
     "'knuckle' times -1, -0.8 to 0; the latter are used"),
    (gripper('2', '0', '0.8'), "joint 'inner': its limits, 0 to 0.8, contradict those of "
     "'knuckle' times 2, 0 to 1.6; 'knuckle' is limited to 0 to 0.4"),
])
def test_what_is_odd_but_usable_is_reported_once(text: str, warning: str) -> None:
    (message,) = parse_urdf(text).warnings
    assert warning in message
    with pytest.warns(UrdfWarning, match=re.escape(warning)) as caught:
        RobotModel.from_urdf(text)
    assert [one.filename for one in caught] == [__file__]


@each('text', [
    *(robot(link('base', 1.0, inertia=inertia)) for inertia in (
        (0.1, 0, 0, 0.1, 0, 0.2), (0.2, 0, 0, 0.1, 0, 0.0999999),
        # m l^2 (1 - u u^T) for two masses along u = (1, 2, 2) / 3: eigenvalue 0 but for rounding
        (0.8, -0.2, -0.2, 0.5, -0.4, 0.5),
    )),
    robot(link('base', 0.0, inertia=(0.0,) * 6)),
    robot(link('base', 1.0), link('a'), link('b'), link('c', 1.0), *(
        joint(*names) for names in (
            ('ja', 'revolute', 'base', 'a'), ('jb', 'fixed', 'a', 'b'), ('jc', 'fixed', 'b', 'c'))
    )),
    *(path.read_text(encoding='utf-8') for path in SHIPPED),
    gripper('-1', '-0.7999', '0'), gripper('-1', '0', '0'), gripper('0', '1', '2'),
    chain(500.0, (60.0, 0, 0, 60.0, 0, 60.0)), chain(0.05, (1e-4, 0, 0, 1e-4, 0, 1e-4)),
    re.sub('<axis xyz="0.0 0.0 1.0"/><limit lower="-3" upper="3"',
           '<axis xyz="0 0 1"/><limit lower="-1e9" upper="1e9"',
           chain(5.0, (0.1, 0, 0, 0.1, 0, 0.1)).replace('revolute', 'prismatic')),
])
def test_a_physical_robot_gives_no_warning(text: str) -> None:
    assert parse_urdf(text, strict_inertia=True).warnings == ()


@pytest.mark.parametrize('path', vendor_robots())
def test_a_vendor_s_file_gives_few_warnings_and_no_false_alarm(path: Path) -> None:
    warnings = parse_urdf(read_urdf(path)).warnings
    assert not [text for text in warnings if 'are the units' in text]
    assert len([text for text in warnings if 'not understood' in text]) <= 2


def test_crossed_limits_are_for_the_library_and_not_for_the_node() -> None:
    crossed = ARM.replace('lower="-3" upper="3"', 'lower="3" upper="-3"')
    model = load(crossed)
    assert parse_urdf(crossed).joints['shoulder'].limits == JointLimits(3.0, -3.0, 2.0, 100.0)
    np.testing.assert_array_equal(model.mass_matrix([0.3]), load(ARM).mass_matrix([0.3]))
    values = complete_values({'joints': ['shoulder']})
    settings = resolve(settings_from(values, ('shoulder',)), model)
    reason = r"3 is not below the upper limit -3 for 'shoulder'; correct <limit> in the URDF"
    with pytest.raises(RneaError, match=reason):
        NodeSettings.of(values).rules(model, settings)
    sliding = chain(88e3, (880, 0, 0, 880, 0, 880)).replace('revolute', 'prismatic')
    crossed = sliding.replace('lower="-3" upper="3"', 'lower="5" upper="-5"')
    assert 'kg in a robot of 1 m; are the units' in parse_urdf(crossed).warnings[-1]


def test_a_parameter_is_text_or_a_regular_file_and_never_waits(tmp_path: Path) -> None:
    path, pipe = tmp_path / 'arm.urdf', tmp_path / 'pipe'
    path.write_text(ARM, encoding='utf-8')
    os.mkfifo(pipe)
    assert read_urdf(str(path)) == read_urdf(ARM) == ARM
    for source in (str(pipe), str(tmp_path), 'none.urdf', 'none.xacro', 'a\0b', 9999 * 'a'):
        with pytest.raises(UrdfError, match=r'^URDF: cannot read .*, which is not XML') as caught:
            read_urdf(source)
        assert repr(source)[1:150] in str(caught.value)
    for device in (pipe, Path('/dev/zero')):  # without a writer a pipe would wait for ever
        with pytest.raises(UrdfError, match='is a pipe or device: save its output'):
            RobotModel.from_urdf(device)


@each(('encoding', 'declared'), [
    ('latin-1', 'ISO-8859-1'), ('cp1252', 'windows-1252'), ('gbk', 'GBK'), ('utf-8', 'latin-1')])
def test_a_declared_encoding_counts_where_the_file_is_not_utf_8(
    encoding: str, declared: str, tmp_path: Path
) -> None:
    name = '机械手' if encoding == 'gbk' else 'Größe'
    text = f'<?xml version="1.0" encoding="{declared}"?>' + ARM.replace('"robot"', f'"{name}"')
    path = tmp_path / 'arm.urdf'
    path.write_bytes(text.encode(encoding))
    assert RobotModel.from_urdf(path).name == name
    if encoding != 'utf-8':  # so that it can be written again
        assert 'encoding="UTF-8"' in read_urdf(path)
    path.write_bytes(text.replace(declared, 'punycode').encode('latin-1', 'ignore') + b'\xff')
    with pytest.raises(UrdfError, match='cannot read'):
        read_urdf(path)


@each('before', [
    '\n \t\r\n', '\ufeff', '<!-- made by xacro -->',
    '\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n',
    '\n<?xml version="1.0" encoding="UTF-16"?>',
    '<?xml version="1.0" encoding="latin-1" standalone="yes"?>',
])
def test_text_before_the_robot_element_is_ignored(before: str, tmp_path: Path) -> None:
    text = before + ARM.replace('"robot"', '"Grüße 手"')
    path = tmp_path / 'arm.urdf'
    path.write_text(text, encoding='utf-8', newline='')
    for source in (text, path, str(path)):
        assert RobotModel.from_urdf(source).name == 'Grüße 手'
