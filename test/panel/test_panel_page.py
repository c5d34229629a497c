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

from rnea_ros.panel.page import Page
from rnea_ros.panel.viewer import Scene

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
        self.node.read_only = read_only
        graph.report(state='active')
        graph.subscriptions['/robot_description'](SimpleNamespace(data=PANDA))
        self.inputs: dict[str, Any] = {}
        for kind in (
            'number', 'slider', 'dropdown', 'vector3', 'uplot', 'html', 'button', 'checkbox',
        ):
            self._keep(server.gui, f'add_{kind}')
        self.scene = Scene(server, 'arm', (0.0, 0.0, 0.0))
        self.page = Page(server, self.node, self.scene)
        self.run()
        self.run()

    def run(self) -> None:
        for _ in range(4):
            self.graph.run(self.node, 0.7)
            if 'feedforward/terms/sum' in self.graph.polled:
                efforts = JointState(name=list(ARM), effort=[8.7, -43.5])
                self.graph.publish('feedforward/terms/sum', efforts)
            self.graph.run(self.node, 0.1)
            self.page.update()

    def enter(self, label: str, value: Any) -> None:
        """Change an input as a browser does."""
        self.inputs[label]._impl.value = value
        self.run()

    def apply(self, **values: Any) -> None:
        """Enter values of parameters, with __ for a dot, and apply them."""
        for name, value in values.items():
            self.enter(name.replace('__', '.'), value)
        self.enter('apply what was entered', True)

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
    panel.graph.parameters['damping'] = [7.0]
    panel.run()
    assert panel.inputs['damping'].value == 7.0
    assert panel.graph.changes == []


def test_a_value_is_for_all_joints_or_the_chosen_one(panel: Panel) -> None:
    panel.apply(damping=2.0)
    panel.enter('joint', ARM[1])
    assert panel.inputs['gains.kd'].value == 2.0
    panel.apply(gains__kd=3.0)
    panel.apply(damping=4.0)
    assert panel.graph.changes == [
        {'damping': [2.0]}, {'gains.kd': [1.0, 3.0]}, {'damping': [2.0, 4.0]},
    ]


def test_only_applied_values_are_sent_all_in_one_request(panel: Panel) -> None:
    panel.enter('damping', 12.5)
    panel.enter('mode', 'feedback')
    assert panel.graph.changes == []
    panel.apply()
    panel.apply()
    assert panel.graph.changes == [{'mode': 'feedback', 'damping': [12.5]}]
    assert panel.inputs['damping'].precision >= 6  # a browser rounds to it


def test_what_was_not_applied_is_not_for_another_joint(panel: Panel) -> None:
    panel.enter('joint', ARM[0])
    panel.enter('gains.kd', 3.0)
    panel.enter('joint', ARM[1])
    panel.apply()
    assert panel.graph.changes == []
    assert panel.inputs['gains.kd'].value == 2.0


@pytest.mark.parametrize('gains', [[1.0, 2.0], [2.0, 2.0]])
def test_inputs_of_another_joint_do_not_wait_for_an_answer(
    panel: Panel, gains: list[float]
) -> None:
    panel.graph.parameters['gains.kd'] = gains
    panel.enter('joint', ARM[0])
    panel.enter('gains.kd', 3.0)
    panel.graph.answers = False
    for label, value in (('apply what was entered', True), ('joint', ARM[1])):
        panel.inputs[label]._impl.value = value
        panel.page.update()
    assert 'set' in panel.node.pending
    assert panel.inputs['gains.kd'].value == 2.0
    panel.apply()
    assert panel.graph.changes == [{'gains.kd': [3.0, 2.0]}]


def test_a_value_is_not_for_another_joint_with_the_same_parameters(panel: Panel) -> None:
    panel.graph.parameters['gains.kd'] = [2.0]
    panel.enter('joint', ARM[0])
    panel.enter('damping', 3.0)
    panel.enter('joint', ARM[1])
    panel.apply()
    assert panel.graph.changes == []


def test_a_refused_value_returns_to_that_of_the_node(panel: Panel) -> None:
    panel.graph.refusal = 'too high'
    panel.apply(gains__kp=1e9, payload__link=ARM_LINK)
    assert panel.inputs['gains.kp'].value == 5.0
    assert panel.inputs['payload.link'].value == ''
    assert 'too high' in panel.inputs[''].content


def test_a_payload_is_entered_with_its_link_and_pulls_down(panel: Panel) -> None:
    panel.apply(payload__link=ARM_LINK, payload__mass=3.0, payload__com=(0.0, 0.0, 0.1))
    assert panel.graph.changes == [{
        'payload.link': [ARM_LINK], 'payload.mass': [3.0], 'payload.com': [0.0, 0.0, 0.1],
    }]
    arrows = panel.scene._arrows
    np.testing.assert_allclose(np.diff(arrows.points[0], axis=0)[0], (0, 0, -0.2943), atol=1e-6)
    panel.apply(payload__mass=0.0)
    assert not arrows.points.size
    panel.graph.parameters |= {
        'payload.link': [ARM_LINK, ARM_LINK], 'payload.mass': [1.0, 2.0], 'payload.com': 6 * [0.0],
    }
    panel.run()
    assert len(arrows.points) == len(arrows.colors) == 2
    assert panel.inputs['payload.mass'].disabled


def test_limits_of_another_number_of_joints_end_nothing(panel: Panel) -> None:
    panel.graph.parameters['effort_limits'] = [1.0, 2.0, 3.0]
    panel.run()
    assert panel.node.values['effort_limits'] == [1.0, 2.0, 3.0]


def test_an_external_force_points_as_the_link_is_turned(panel: Panel) -> None:
    assert 'feedforward/external_wrench' not in panel.graph.polled  # computed while subscribed
    panel.enter('external force', True)
    turned = JointState(name=list(ARM), position=[np.pi / 2, 0.0])
    wrench = WrenchStamped()
    wrench.header.frame_id, wrench.wrench.force.x = 'fer_link1', 20.0
    for topic, message in (('/joint_states', turned), ('feedforward/external_wrench', wrench)):
        panel.graph.publish(topic, message)
    panel.graph.run(panel.node, 0.1)
    panel.page.update()
    ends = panel.scene._arrows.points[0]
    np.testing.assert_allclose(np.diff(ends, axis=0)[0], (0.0, 0.2, 0.0), atol=1e-6)


def test_another_robot_leaves_the_payload_to_the_node(panel: Panel) -> None:
    panel.apply(payload__link=ARM_LINK)
    changes = [*panel.graph.changes]
    panel.graph.subscriptions['/robot_description'](SimpleNamespace(data=robot(link('base'))))
    panel.run()
    panel.apply()
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


def test_terms_with_fewer_efforts_than_names_end_nothing(panel: Panel) -> None:
    panel.graph.publish('feedforward/terms/sum', JointState(name=list(ARM), effort=[8.7]))
    panel.graph.run(panel.node, 0.1)
    panel.page.update()


def test_the_reference_is_a_ghost_while_there_is_one(panel: Panel) -> None:
    scene = panel.scene
    assert not scene._ghost.visible
    for topic, position in (('/joint_states', 0.5), ('feedforward/reference', 0.7)):
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


def test_buttons_act_once(panel: Panel) -> None:
    panel.graph.triggered = SimpleNamespace(success=True, message='moves')
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
    panel.apply(damping=2.0)
    for button in ('stop: rest pose if set, then ramp to zero', 'move to the rest pose'):
        assert panel.inputs[button].disabled
        panel.enter(button, True)  # another client than viser's own
    assert set(panel.graph.calls) == {'get_parameters'}
    assert panel.inputs['damping'].disabled


def test_a_robot_without_shapes_is_drawn_by_balls_and_a_missing_mesh_is_named(
    server: Any, tmp_path: Path
) -> None:
    scene = Scene(server, 'robot', (0.0, 0.0, 0.0))
    parts = link('base'), link('arm'), joint('elbow', 'revolute', 'base', 'arm', xyz=(0, 0, 0.5))
    scene.update(PANDA, {}, {})
    scene.update(robot(*parts), {'elbow': 0.1}, {})
    assert scene.problem == ''
    (_, base), (_, arm) = scene._links['robot']
    assert (base.position[2], arm.position[2]) == (0.0, 0.5)
    drawn = [name for name in server.scene._handle_from_node_name if '/links/robot/' in name]
    assert len(drawn) == 2  # nothing of the other robot
    lost = f'file://{tmp_path}/lost.stl'
    broken = f'<link name="arm">{MESH.format(lost)}</link>'
    scene.update(robot(*parts).replace('<link name="arm"/>', broken), {}, {})
    assert f'{lost} is not found' in scene.problem
    scene.update(robot(*parts), {'elbow': np.nan}, {'elbow': 0.0})  # before a valid position
    assert not scene.poses
    scene.update('<robot', {}, {})
    assert 'the robot is not drawn' in scene.problem
    assert scene.model is None
