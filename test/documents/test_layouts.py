# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The layouts for PlotJuggler, Foxglove and RViz: whole, and of topics and keys that there are."""

from collections.abc import Iterator
import json
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

import pytest

from support.models.robots import ROOT, load
from support.ros.fake_robot import FakeRobot, fake_robot, node
from support.ros.ros_process import NO_ROS, new_domain_id, wait_until

LAYOUTS = ROOT / 'layouts'
RVIZ = {'panda.rviz': 'panda', 'ur5e.rviz': 'ur5e'}
STATUS = 'feedforward: control'
JOINTS = load(ROOT / 'urdf/panda_arm.urdf').joint_names
WRENCH = '/force_torque_sensor_broadcaster/wrench'
OF_THE_SIMULATION = {'/joint_states', '/robot_description', WRENCH}
PANELS = {'Plot', 'DiagnosticSummary', 'DiagnosticStatusPanel', 'Tab'}


def plotjuggler() -> ElementTree.Element:
    """Return PlotJuggler's layout."""
    return ElementTree.parse(LAYOUTS / 'plotjuggler.xml').getroot()


def foxglove() -> dict[str, Any]:
    """Return Foxglove's layout."""
    layout: dict[str, Any] = json.loads((LAYOUTS / 'foxglove.json').read_text(encoding='utf-8'))
    return layout


def terms() -> set[str]:
    """Return the topics of the terms."""
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.node.outputs.terms import NAMES

    return {f'/feedforward/terms/{name}' for name in NAMES}


def panels(layout: Any) -> Iterator[str]:
    """Yield the panels of a part of Foxglove's layout, those on its tabs too."""
    if isinstance(layout, str):
        yield layout
        for tab in foxglove()['configById'][layout].get('tabs', ()):
            yield from panels(tab['layout'])
    else:
        yield from panels(layout['first'])
        yield from panels(layout['second'])


def test_every_layout_is_tested() -> None:
    names = {path.name for path in LAYOUTS.iterdir()}
    assert names == {'plotjuggler.xml', 'foxglove.json', *RVIZ}
    text = (ROOT / 'docs/visualisation.md').read_text(encoding='utf-8')
    assert all(f'layouts/{name}' in text for name in names)


def test_every_split_of_plotjuggler_has_as_many_sizes_as_parts() -> None:
    root = plotjuggler()
    window = root.find('tabbed_widget')
    assert window is not None
    assert (window.get('parent'), window.get('name')) == ('main_window', 'Main Window')
    splits = list(root.iter('DockSplitter'))
    assert len(splits) == len(list(root.iter('Tab')))
    for split in splits:
        sizes = [float(size) for size in split.attrib['sizes'].split(';')]
        assert len(sizes) == len(split) == int(split.attrib['count'])
        assert sum(sizes) == pytest.approx(1.0)


def test_plotjuggler_curves_name_existing_terms_joints_and_topics() -> None:
    names = {curve.attrib['name'] for curve in plotjuggler().iter('curve')}
    efforts = {name for name in names if name.endswith('/effort')}
    topics = {*terms(), '/feedforward/effort', '/joint_states'}
    assert efforts == {f'{topic}/{joint}/effort' for topic in topics for joint in JOINTS}
    rest = names - efforts
    assert rest
    assert all(name.startswith(f'/diagnostics/{STATUS}/') for name in rest)
    (selected,) = plotjuggler().iter('selected_topics')
    assert set(selected.attrib['value'].split(';')) == {*topics, '/diagnostics'}


def test_the_panels_of_foxglove_are_there_and_all_are_shown() -> None:
    layout = foxglove()
    shown = list(panels(layout['layout']))
    assert sorted(shown) == sorted(layout['configById'])
    assert {name.partition('!')[0] for name in shown} == PANELS


def test_the_paths_of_foxglove_are_of_terms_and_topics_that_there_are() -> None:
    configurations = foxglove()['configById'].values()
    paths = [path['value'] for panel in configurations for path in panel.get('paths', ())]
    found = [re.fullmatch(r'([/\w]+)\.effort\[(\d)\]', path) for path in paths]
    curves = {(match[1], int(match[2])) for match in found if match}
    assert len(curves) == len(paths)
    topics = {*terms(), '/feedforward/effort', '/joint_states'}
    assert curves == {(topic, k) for topic in topics for k in range(len(JOINTS))}
    diagnostics = {panel['topicToRender'] for panel in configurations if 'topicToRender' in panel}
    assert diagnostics == {'/diagnostics'}
    names = {panel['selectedName'] for panel in configurations if 'selectedName' in panel}
    assert names == {STATUS}


@pytest.mark.parametrize(('name', 'robot'), RVIZ.items())
def test_rviz_shows_the_robot_and_its_wrench(name: str, robot: str) -> None:
    yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')
    manager = yaml.safe_load((LAYOUTS / name).read_text('utf-8'))['Visualization Manager']
    displays = {display['Class'].rpartition('/')[2]: display for display in manager['Displays']}
    assert {'Grid', 'RobotModel', 'TF', 'Wrench'} == displays.keys()
    description = displays['RobotModel']['Description Topic']
    assert description['Durability Policy'] == 'Transient Local'
    topics = {description['Value'], displays['Wrench']['Topic']['Value']}
    assert topics <= OF_THE_SIMULATION
    links = load(ROOT / f'urdf/{robot}.urdf').link_names
    assert manager['Global Options']['Fixed Frame'] == links[0]


@pytest.fixture(scope='module')
def statuses() -> list[str]:
    """The names of the diagnostics that came."""
    return []


@pytest.fixture(scope='module')
def running(statuses: list[str]) -> Iterator[FakeRobot]:
    """A robot under control."""
    pytest.importorskip('rclpy', reason=NO_ROS)
    from diagnostic_msgs.msg import DiagnosticArray

    def note(message: Any) -> None:
        statuses.extend(status.name for status in message.status)

    domain_id = new_domain_id()
    with fake_robot(domain_id) as robot, node(domain_id):
        robot.node.create_subscription(DiagnosticArray, '/diagnostics', note, 10)
        robot.wait_until_controlled()
        assert wait_until(lambda: bool(statuses))
        yield robot


@pytest.mark.ros
def test_plotted_diagnostics_are_the_nodes(running: FakeRobot, statuses: list[str]) -> None:
    assert set(statuses) == {STATUS}
    prefix = f'/diagnostics/{STATUS}/'
    names = {curve.attrib['name'] for curve in plotjuggler().iter('curve')}
    keys = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    numbers = {key for key in keys if key != 'level'}
    assert numbers <= running.diagnostics.keys()
    for key in numbers:
        float(running.diagnostics[key])


@pytest.mark.ros
def test_every_topic_of_the_layouts_is_one_of_the_node(running: FakeRobot) -> None:
    (selected,) = plotjuggler().iter('selected_topics')
    topics = set(selected.attrib['value'].split(';'))

    def missing() -> set[str]:
        publishers = running.node.get_publisher_names_and_types_by_node('feedforward', '/')
        return topics - {name for name, _ in publishers} - OF_THE_SIMULATION

    assert wait_until(lambda: not missing()), missing()
