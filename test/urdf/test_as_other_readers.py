# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What vendors' files contain and other readers of URDF accept is read, as they read it."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel, UrdfError, UrdfWarning
from rnea_ros.feedforward.settings import resolve
from rnea_ros.node.parameters import complete_values, joint_rules, settings_from
from rnea_ros.urdf import Limits, parse_urdf, rounded, with_inertials
from support.cases import each
from support.models.robots import ARM, joint, link, load, robot

CROSSED = ARM.replace('lower="-3" upper="3"', 'lower="3" upper="-3"')


@each(
    ('before', 'after'),
    [
        pytest.param('</robot>', '<gazebo><sensor:camera x="1"/></gazebo></robot>', id='element'),
        pytest.param('</robot>', '<x:link name="arm"/></robot>', id='link'),
        pytest.param('effort=', 'drake:acceleration="5" effort=', id='attribute'),
        pytest.param('<robot ', '<robot xmlns="http://drake.mit.edu" ', id='default'),
        pytest.param('<link ', '<link xmlns="" ', id='no-namespace'),
        pytest.param('<inertial', '<inertial xmlns="http://x.org"', id='of-a-part'),
    ],
)
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
@each(
    'axis',
    [
        '<axis/>', '<axis xyz="0 0 0"/>', '<axis xyz="0 0"/>', '<axis xyz="nan nan nan"/>',
        '<axis xyz="a b c"/>', 2 * '<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/><axis/>',
    ],
)
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


def test_negative_friction_names_the_way_out() -> None:
    text = ARM.replace('</joint>', '<dynamics damping="-1e-6"/></joint>')
    with pytest.raises(UrdfError, match=r'damping -1e-06 .* negative; set 0 if it is unknown'):
        parse_urdf(text)


def test_the_library_reads_crossed_limits_with_a_warning() -> None:
    description = parse_urdf(CROSSED)
    assert description.joints['shoulder'].limits == Limits(3.0, -3.0, 2.0, 100.0)
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
