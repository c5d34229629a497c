# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a URDF may hold beside the robot, as other readers read it; its warnings and sources."""

import os
from pathlib import Path
import re
import warnings

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel, UrdfError, UrdfWarning
from rnea_ros.feedforward.settings import resolve
from rnea_ros.node.parameters import complete_values, joint_rules, settings_from
from rnea_ros.urdf import (
    JointLimits,
    parse_urdf,
    read_description,
    read_urdf,
    rounded,
    with_inertials,
)
from support.cases import each
from support.models.robots import ARM, SHIPPED, joint, link, load, robot, vendor_robots
from support.tools import Printed

BROKEN_DECORATION = (
    '<material name="red"/><material/>'
    '<transmission name="t"><joint name="nowhere"/></transmission><transmission/>'
    '<gazebo reference="nowhere"><plugin/></gazebo><gazebo/>'
    '<ros2_control name="x" type="system"><joint name="nowhere"/></ros2_control>'
    '<mujoco><compiler/></mujoco><sensor/><loop/>text'
)
BROKEN_SHAPES = (
    '<visual><geometry><mesh filename="package://no/such.dae" scale="a b"/></geometry>'
    '<material name="m"><texture/></material></visual><visual/>'
    '<collision><geometry/></collision><collision name="c"><origin xyz="nan"/></collision>'
    '<self_collision_checking/>text'
)
BROKEN_EXTRAS = '<calibration rising="a"/><hardwareInterface/>text'


@pytest.mark.parametrize(('before', 'decoration'), [
    pytest.param('</robot>', BROKEN_DECORATION, id='robot'),
    pytest.param('<inertial>', BROKEN_SHAPES, id='link'),
    pytest.param('<mass', '<density value="x"/>text', id='inertial'),
    pytest.param('<axis', BROKEN_EXTRAS, id='joint'),
])
def test_other_elements_are_ignored(before: str, decoration: str, capfd: Printed) -> None:
    assert parse_urdf(ARM.replace(before, decoration + before)) == parse_urdf(ARM)
    assert capfd.readouterr() == ('', '')


@pytest.mark.parametrize(
    'tag', ['robot', 'link', 'joint', 'inertial', 'mass', 'inertia', 'origin', 'axis', 'limit']
)
def test_unknown_attributes_are_left_out(tag: str, capfd: Printed) -> None:
    unknown = f'<{tag} reflect="1" xmlns:x="http://x.org" x:note="2"'
    text = re.sub(rf'<{tag}\b', unknown, ARM)
    assert text != ARM
    assert parse_urdf(text) == parse_urdf(ARM)
    assert capfd.readouterr() == ('', '')


def test_elements_nested_without_end_are_left_out() -> None:
    depth = 100_000
    text = ARM.replace('</robot>', '<a>' * depth + '</a>' * depth + '</robot>')
    assert parse_urdf(text) == parse_urdf(ARM)


@pytest.mark.parametrize('path', vendor_robots())
def test_vendors_robots_print_nothing(path: Path, capfd: Printed) -> None:
    parse_urdf(read_urdf(path))
    assert capfd.readouterr() == ('', '')


# Warnings


@pytest.mark.parametrize('numbers', ['k_velocity="x"', 'k_position="-1"', 'k_velocity="nan"'])
def test_a_safety_controller_that_cannot_be_used_is_named(numbers: str) -> None:
    text = ARM.replace('<axis', f'<safety_controller {numbers}/><axis')
    (warning,) = parse_urdf(text).warnings
    assert warning.startswith("joint 'shoulder': <safety_controller> is not used: ")


def test_a_robot_without_name_is_reported() -> None:
    text = ARM.replace(' name="robot"', '')
    description = parse_urdf(text)
    assert description.name == ''
    assert description.warnings == ('the robot has no name',)


@pytest.mark.parametrize('inertia', [
    pytest.param((0.1, 0, 0, 0.1, 0, 0.2), id='flat'),
    pytest.param((0.2, 0, 0, 0.1, 0, 0.0999999999), id='flat-within-rounding'),
    pytest.param((1e-9, 0, 0, 1e-9, 0, 1e-9), id='small'),
    pytest.param((0.0, 0, 0, 0.1, 0, 0.1), id='rod'),
    # m l^2 (1 - u u^T) for two masses along u = (1, 2, 2) / 3: eigenvalue 0 but for rounding
    pytest.param((0.8, -0.2, -0.2, 0.5, -0.4, 0.5), id='two-points'),
    pytest.param((0.0,) * 6, id='point'),
])
def test_an_inertia_at_the_edge_is_accepted(inertia: tuple[float, ...]) -> None:
    text = robot(link('base', 1.0, inertia=inertia))
    assert parse_urdf(text, strict_inertia=True).warnings == ()


def test_a_body_without_mass_and_inertia_is_not_reported() -> None:
    assert parse_urdf(robot(link('base', 0.0, inertia=(0.0,) * 6))).warnings == ()


def test_a_joint_that_moves_no_mass_is_reported() -> None:
    text = robot(
        link('base', 1.0), link('a'), link('b', 1.0),
        joint('ja', 'revolute', 'base', 'a'), joint('jb', 'revolute', 'a', 'b'),
    )
    (message,) = parse_urdf(text).warnings
    assert message == "link 'a' moves with joint 'ja' but has no mass; its inertia is set to zero"


def test_a_joint_that_moves_mass_behind_fixed_joints_is_not_reported() -> None:
    text = robot(
        link('base'), link('a'), link('b'), link('c', 1.0),
        joint('ja', 'revolute', 'base', 'a'), joint('jb', 'fixed', 'a', 'b'),
        joint('jc', 'fixed', 'b', 'c'),
    )
    assert parse_urdf(text).warnings == ()


def test_the_model_repeats_every_warning_of_the_description() -> None:
    text = ARM.replace(' name="robot"', '').replace('<mass value="1.0"/>', '<mass value="0"/>')
    with pytest.warns(UrdfWarning) as caught:
        RobotModel.from_urdf(text)
    assert tuple(str(warning.message) for warning in caught) == parse_urdf(text).warnings
    assert len(caught) == 3
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize('path', [pytest.param(path, id=path.stem) for path in SHIPPED])
def test_the_shipped_robots_are_physical(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error', UrdfWarning)
        RobotModel.from_urdf(path, strict_inertia=True)


# Where it is read from


def test_a_path_is_read_as_a_string_and_as_a_path_with_any_line_ends(tmp_path: Path) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_bytes(b'\xef\xbb\xbf' + ARM.replace('><', '>\r\n<').encode())
    assert parse_urdf(read_urdf(path)) == parse_urdf(read_urdf(str(path))) == parse_urdf(ARM)


def test_a_parameter_is_text_or_a_regular_file_and_never_waits(tmp_path: Path) -> None:
    path, pipe = tmp_path / 'arm.urdf', tmp_path / 'pipe'
    path.write_text(ARM, encoding='utf-8')
    os.mkfifo(pipe)
    assert read_description(str(path)) == read_description(ARM) == ARM
    for source in (str(pipe), str(tmp_path), 'none.urdf', 'a\0b', 9999 * 'a'):
        with pytest.raises(UrdfError, match='neither XML nor the path of a file'):
            read_description(source)


@pytest.mark.parametrize('before', [
    pytest.param('', id='nothing'), pytest.param('\n \t\r\n', id='white-space'),
    pytest.param('\ufeff', id='byte-order-mark'),
    pytest.param('<?xml version="1.0"?>', id='declaration'),
    pytest.param('\ufeff<?xml version="1.0" encoding="utf-8"?>\n', id='mark-and-declaration'),
    pytest.param('\n<?xml version="1.0" encoding="UTF-16"?>', id='other-encoding'),
    pytest.param('<?xml version="1.0" encoding="latin-1" standalone="yes"?>', id='latin-1'),
    pytest.param('<!-- made by xacro -->', id='comment'),
])
def test_text_before_the_robot_element_is_ignored(before: str, tmp_path: Path) -> None:
    text = before + ARM.replace('"robot"', '"Grüße 手"')
    path = tmp_path / 'arm.urdf'
    path.write_text(text, encoding='utf-8', newline='')
    for source in (text, path):
        assert RobotModel.from_urdf(source).name == 'Grüße 手'


CROSSED = ARM.replace('lower="-3" upper="3"', 'lower="3" upper="-3"')


@each(('before', 'after'), [
    pytest.param('</robot>', '<gazebo><sensor:camera x="1"/></gazebo></robot>', id='element'),
    pytest.param('</robot>', '<x:link name="arm"/></robot>', id='link'),
    pytest.param('effort=', 'drake:acceleration="5" effort=', id='attribute'),
    pytest.param('<robot ', '<robot xmlns="http://drake.mit.edu" ', id='default'),
    pytest.param('<link ', '<link xmlns="" ', id='no-namespace'),
    pytest.param('<inertial', '<inertial xmlns="http://x.org"', id='of-a-part'),
])
def test_prefixes_and_namespaces_change_nothing(before: str, after: str) -> None:
    text = ARM.replace(before, after)
    assert text != ARM
    assert parse_urdf(text) == parse_urdf(ARM)


def test_mass_properties_are_written_under_prefixes_and_namespaces() -> None:
    text = ARM.replace('<robot ', '<robot xmlns="http://x.org" x:y="z" ')
    inertial = parse_urdf(ARM).links['arm'].inertial
    assert inertial is not None
    assert with_inertials(text, {'arm': inertial}).startswith(text[:40])
    assert parse_urdf(with_inertials(text, {'base': inertial})).links['base'].inertial == (
        rounded(inertial)
    )


@each('kind', ['fixed', 'floating'])
@each('axis', [
    '<axis/>', '<axis xyz="0 0 0"/>', '<axis xyz="0 0"/>', '<axis xyz="nan nan nan"/>',
    '<axis xyz="a b c"/>', 2 * '<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/><axis/>',
])
def test_the_axis_of_a_joint_without_axis_is_not_read(kind: str, axis: str) -> None:
    def arm(more: str) -> str:
        mount = joint('mount', kind, 'base', 'arm').replace('<axis xyz="0.0 0.0 1.0"/>', '')
        return robot(link('base'), link('arm', 1.0), mount.replace('</joint>', f'{more}</joint>'))

    assert parse_urdf(arm(axis)) == parse_urdf(arm(''))


@each('more', ['<limit/>', '<limit effort="x"/>', '<dynamics damping="-1"/>', '<mimic/>'])
def test_what_only_a_moving_joint_has_is_not_read_of_a_fixed_one(more: str) -> None:
    def arm(more: str) -> str:
        return robot(link('base'), link('arm', 1.0), joint('m', 'fixed', 'base', 'arm', more=more))

    assert parse_urdf(arm(more)) == parse_urdf(arm(''))


@each('tag', ['axis', 'limit', 'parent', 'child'])
def test_an_element_that_a_joint_repeats_unchanged_is_read_once(tag: str) -> None:
    start = ARM.index(f'<{tag}')
    end = ARM.index('/>', start) + 2
    text = ARM[:end] + '<!-- again -->' + ARM[start:end] + ARM[end:]
    assert parse_urdf(text) == parse_urdf(ARM)


@each('more', ['damping="-7.6e-24"', 'friction="-7.6e-24"', 'damping="-1e-10" friction="-0"'])
def test_friction_that_rounding_made_negative_is_zero(more: str) -> None:
    text = ARM.replace('</joint>', f'<dynamics {more}/></joint>')
    assert parse_urdf(text) == parse_urdf(ARM)


def test_the_library_reads_crossed_limits_with_a_warning() -> None:
    description = parse_urdf(CROSSED)
    assert description.joints['shoulder'].limits == JointLimits(3.0, -3.0, 2.0, 100.0)
    (message,) = description.warnings
    assert message.startswith("joint 'shoulder': limit lower 3.0 is above upper -3.0")
    with pytest.warns(UrdfWarning, match='is above upper'):
        model = RobotModel.from_urdf(CROSSED)
    np.testing.assert_array_equal(model.mass_matrix([0.3]), load(ARM).mass_matrix([0.3]))


def test_the_node_accepts_no_crossed_limits() -> None:
    model = load(CROSSED)
    values = complete_values({'joints': ['shoulder']})
    settings = resolve(settings_from(values, ('shoulder',)), model)
    reason = r"3.0 is not below the upper limit -3.0 for 'shoulder'; correct <limit> in the URDF"
    with pytest.raises(RneaError, match=reason):
        joint_rules(values, model, settings)
