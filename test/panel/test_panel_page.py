# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The panel's inputs, plot and scene, with viser's server and without a browser."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.models.robots import ROOT, joint, link, robot
from support.ros.panel_node import FakeGraph, watched
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('viser', reason='viser is not installed')

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from viser import ViserServer

from rnea_ros.panel.inputs import STILL
from rnea_ros.panel.page import Page
from rnea_ros.panel.scene import Scene

PANDA = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
ARM, ARM_LINK = ('fer_joint1', 'fer_joint2'), 'fer_link2'
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = ViserServer('127.0.0.1', 18080, verbose=False)
    monkeypatch.setattr(server, 'get_clients', lambda: {0: None})
    yield server
    server.stop()


class Panel:
    """A page for a node of a graph, and its inputs by their labels."""

    def __init__(self, server: Any, graph: FakeGraph, *, read_only: bool = False) -> None:
        self.graph, self.node = graph, watched(graph)
        graph.report(state='active')
        graph.subscriptions['robot_description'](SimpleNamespace(data=PANDA))
        self.inputs: dict[str, Any] = {}
        for kind in (
            'number', 'slider', 'dropdown', 'vector3', 'uplot', 'html', 'button', 'checkbox',
        ):
            self._keep(server.gui, f'add_{kind}')
        self.page = Page(server, [self.node], read_only=read_only, clock=lambda: graph.now)
        self.run()
        self.run()

    def run(self) -> None:
        for _ in range(4):
            self.graph.run(self.node, STILL)
            if 'feedforward/terms/sum' in self.graph.polled:
                efforts = JointState(name=list(ARM), effort=[8.7, -43.5])
                self.graph.publish('feedforward/terms/sum', efforts)
            self.graph.run(self.node, 0.1)
            self.page.update()

    def enter(self, label: str, value: Any) -> None:
        """Change an input as a browser does."""
        self.inputs[label]._impl.value = value
        self.run()

    def _keep(self, gui: Any, name: str) -> None:
        add = getattr(gui, name)

        def adding(*arguments: Any, **options: Any) -> Any:
            handle = add(*arguments, **options)
            self.inputs[arguments[0] if isinstance(arguments[0], str) else name] = handle
            return handle

        setattr(gui, name, adding)


@pytest.fixture
def panel(server: Any, monkeypatch: pytest.MonkeyPatch) -> Panel:
    return Panel(server, FakeGraph(monkeypatch))


def test_inputs_show_parameters_and_follow_changes_by_others(panel: Panel) -> None:
    assert panel.inputs['gains.kp'].value == 5.0
    assert panel.inputs['gains.kd'].disabled  # the joints differ
    panel.graph.event('/feedforward', 'damping', [7.0])
    panel.run()
    assert panel.inputs['damping'].value == 7.0
    assert panel.graph.changes == []


def test_a_value_is_for_all_joints_or_the_chosen_one(panel: Panel) -> None:
    panel.enter('damping', 2.0)
    panel.enter('joint', ARM[1])
    assert panel.inputs['gains.kd'].value == 2.0
    panel.enter('gains.kd', 3.0)
    panel.enter('damping', 4.0)
    assert panel.graph.changes == [
        {'damping': [2.0]}, {'gains.kd': [1.0, 3.0]}, {'damping': [2.0, 4.0]},
    ]


def test_of_several_values_the_newest_is_sent(panel: Panel) -> None:
    panel.graph.answers = False
    for damping in (1.0, 2.0, 3.0):
        panel.inputs['damping']._impl.value = damping
        panel.page.update()
        panel.graph.now += 1.1 * STILL
        panel.page.update()
    panel.graph.answers = True
    panel.run()
    assert panel.graph.changes == [{'damping': [1.0]}, {'damping': [3.0]}]
    assert panel.node.values['damping'] == [3.0]


def test_the_first_digits_of_a_number_are_not_sent(panel: Panel) -> None:
    for damping in (1.0, 12.0, 12.5):
        panel.inputs['damping']._impl.value = damping
        panel.page.update()
        panel.graph.now += 0.9 * STILL
        panel.page.update()
    assert panel.graph.changes == []
    panel.run()
    assert panel.graph.changes == [{'damping': [12.5]}]
    assert panel.inputs['damping'].precision >= 6  # a browser rounds to it


def test_a_value_is_for_the_joint_that_was_chosen_when_it_was_entered(panel: Panel) -> None:
    panel.enter('joint', ARM[0])
    panel.inputs['damping']._impl.value = 3.0
    panel.page.update()
    panel.enter('joint', ARM[1])
    assert panel.graph.changes == [{'damping': [3.0, 0.0]}]
    assert panel.inputs['damping'].value == 0.0


def test_a_payload_is_sent_once_and_a_refused_one_returns(panel: Panel) -> None:
    panel.graph.refusal = 'too heavy'
    panel.inputs['link']._impl.value, panel.inputs['mass, kg']._impl.value = ARM_LINK, 1e9
    panel.run()
    panel.run()
    assert [change['payload.mass'] for change in panel.graph.changes] == [[1e9]]
    assert (panel.inputs['link'].value, panel.inputs['mass, kg'].value) == ('', 0.0)


def test_limits_of_another_number_of_joints_end_nothing(panel: Panel) -> None:
    panel.graph.event('/feedforward', 'effort_limits', [1.0, 2.0, 3.0])
    panel.run()
    assert panel.page._parts[0]._shares()[1] == {}


def test_a_refused_value_returns_to_that_of_the_node(panel: Panel) -> None:
    panel.graph.refusal = 'too high'
    panel.enter('gains.kp', 1e9)
    assert panel.inputs['gains.kp'].value == 5.0
    assert 'too high' in panel.inputs[''].content


def test_a_payload_is_entered_with_its_link_and_pulls_down(panel: Panel) -> None:
    for label, value in (('link', ARM_LINK), ('mass, kg', 3.0), ('centre, m', (0.0, 0.0, 0.1))):
        panel.enter(label, value)
    assert panel.graph.changes[-1] == {
        'payload.link': [ARM_LINK], 'payload.mass': [3.0], 'payload.com': [0.0, 0.0, 0.1],
    }
    arrows = panel.page._parts[0]._scene._arrows
    ends = arrows['weight_0'].points[0]
    np.testing.assert_allclose(np.diff(ends, axis=0)[0], (0.0, 0.0, -0.2943), atol=1e-6)
    panel.enter('mass, kg', 0.0)
    assert not arrows
    panel.graph.event('/feedforward', 'payload.link', [ARM_LINK, ARM_LINK])
    panel.graph.event('/feedforward', 'payload.mass', [1.0, 2.0])
    panel.graph.event('/feedforward', 'payload.com', 6 * [0.0])
    panel.run()
    assert [*arrows] == ['weight_0', 'weight_1']
    assert panel.inputs['mass, kg'].disabled


def test_an_external_force_points_as_the_link_is_turned(panel: Panel) -> None:
    panel.enter('external force', True)
    turned = JointState(name=list(ARM), position=[np.pi / 2, 0.0])
    wrench = WrenchStamped()
    wrench.header.frame_id, wrench.wrench.force.x = 'fer_link1', 20.0
    for topic, message in (('joint_states', turned), ('feedforward/external_wrench', wrench)):
        panel.graph.publish(topic, message)
    panel.graph.run(panel.node, 0.1)
    panel.page.update()
    ends = panel.page._parts[0]._scene._arrows['external'].points[0]
    np.testing.assert_allclose(np.diff(ends, axis=0)[0], (0.0, 0.2, 0.0), atol=1e-6)


def test_another_robot_leaves_the_payload_to_the_node(panel: Panel) -> None:
    panel.enter('link', ARM_LINK)
    changes = [*panel.graph.changes]
    panel.graph.subscriptions['robot_description'](SimpleNamespace(data=robot(link('base'))))
    panel.run()
    assert panel.graph.changes == changes
    assert panel.node.values['payload.link'] == [ARM_LINK]


def test_the_plot_shows_shares_of_limits_or_terms_of_a_joint(panel: Panel) -> None:
    plot = panel.inputs['add_uplot']
    panel.run()
    assert np.ptp(plot.data[0]) > 0.0
    assert [line['label'] for line in plot.series[1:]] == [*ARM]
    assert [line[-1] for line in plot.data[1:]] == pytest.approx([10.0, -50.0])
    panel.enter('joint', ARM[1])
    panel.run()
    gravity = JointState(name=list(ARM), effort=[1.0, 2.0])
    panel.graph.publish('feedforward/terms/gravity', gravity)
    panel.graph.run(panel.node, 0.5)
    panel.page.update()
    assert [line['label'] for line in plot.series[1:]] == ['sum', 'gravity']
    assert [line[-1] for line in plot.data[1:]] == [-43.5, 2.0]


def test_the_reference_is_a_ghost_while_there_is_one(panel: Panel) -> None:
    scene = panel.page._parts[0]._scene
    assert not scene._ghost.visible
    for topic, position in (('joint_states', 0.5), ('feedforward/reference', 0.7)):
        panel.graph.publish(topic, JointState(name=list(ARM), position=[position, 0.0]))
    panel.graph.run(panel.node, 0.1)
    panel.page.update()
    turns = {name: dict(scene._links[name])['fer_link1'].wxyz for name in ('robot', 'ghost')}
    assert scene._ghost.visible
    assert turns == {'robot': pytest.approx((np.cos(0.25), 0.0, 0.0, np.sin(0.25))),
                     'ghost': pytest.approx((np.cos(0.35), 0.0, 0.0, np.sin(0.35)))}
    panel.run()
    panel.run()
    assert not scene._ghost.visible  # the robot stays where it was measured last
    assert scene._links['robot'][1][1].wxyz[3] == pytest.approx(np.sin(0.25))


def test_buttons_act_once_and_rest_needs_a_pose(panel: Panel) -> None:
    panel.graph.triggered = SimpleNamespace(success=True, message='moves')
    rest = panel.inputs['move to the rest pose']
    assert panel.inputs['stop: ramp down to zero'].label == 'stop: ramp down to zero'
    assert rest.disabled
    panel.graph.event('/feedforward', 'rest_pose', [0.0, 1.0])
    panel.run()
    assert not rest.disabled
    assert panel.inputs['stop: ramp down to zero'].label == 'deactivate: rest pose, then zero'
    panel.enter('move to the rest pose', True)
    panel.run()
    assert [*panel.node.notes] == [(True, 'rest: moves')]


def test_without_a_browser_nothing_is_received(panel: Panel, server: Any) -> None:
    assert panel.graph.polled
    server.get_clients = dict
    panel.run()
    assert not panel.graph.polled


def test_read_only_changes_nothing(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = Panel(server, FakeGraph(monkeypatch), read_only=True)
    panel.enter('damping', 2.0)
    assert panel.graph.changes == []
    assert panel.inputs['damping'].disabled
    assert 'stop: ramp down to zero' not in panel.inputs


def test_a_robot_without_shapes_is_drawn_by_sticks_and_a_missing_mesh_is_named(
    server: Any, tmp_path: Path
) -> None:
    scene = Scene(server, 'robot', (0.0, 0.0, 0.0))
    parts = link('base'), link('arm'), joint('elbow', 'revolute', 'base', 'arm', xyz=(0, 0, 0.5))
    scene.update(robot(*parts), {'elbow': 0.1}, {})
    assert scene.problem == ''
    (base, arm), = [[mesh.vertices for _, mesh in scene._links['robot']]]
    assert np.ptp(base, axis=0)[2] > 0.5 > np.ptp(arm, axis=0)[2]
    lost = f'file://{tmp_path}/lost.stl'
    arm = f'<link name="arm">{MESH.format(lost)}</link>'
    scene.update(robot(*parts).replace('<link name="arm"/>', arm), {}, {})
    assert f'{lost} is not found' in scene.problem
    scene.update(robot(*parts), {'elbow': np.nan}, {'elbow': 0.0})  # before a valid position
    assert not scene.poses
    scene.update('<robot', {}, {})
    assert 'the robot is not drawn' in scene.problem
    assert scene.model is None
