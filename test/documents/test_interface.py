# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Interface reference, SROS2 policy and layouts name what the nodes really have."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
import json
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

import pytest

from support.models.robots import ROOT, load
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='the simulated robot needs mujoco')

from diagnostic_msgs.msg import DiagnosticArray
import diagnostics_tables as diagnostics
from diagnostics_tables import CONTROL_DIAGNOSTICS
import interface_reference
import interface_tables as tables
from interface_tables import NodeInterface
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from rnea_ros.node.publishers import NAMES

GIVEN = {
    'command_topic': 'effort_controller/commands',
    'wrench_inputs.<name>.topic': 'force_torque_sensor_broadcaster/wrench',
    'base_sensor.topic': 'imu_sensor_broadcaster/imu',
    'speed_scaling_topic': 'speed_scaling_state_broadcaster/speed_scaling',
    'dead_man_topic': 'dead_man',
    'trajectory_topic': 'joint_trajectory_controller/joint_trajectory',
}
"""What the parameters are set to that name topics; in the policy, too."""

INPUTS = (
    'wrench_inputs.names:=[flange] wrench_inputs.flange.link:=fer_link7 '
    f'wrench_inputs.flange.topic:={GIVEN["wrench_inputs.<name>.topic"]} '
    f'base_sensor.topic:={GIVEN["base_sensor.topic"]} base_sensor.link:=fer_link0 '
    f'speed_scaling_topic:={GIVEN["speed_scaling_topic"]} use_sim_time:=true '
    'joint_states_timeout:=30.0 hardware_compensates:=[none] external_effort.link:=fer_link8 '
    'additional_effort.limits:=[1.0]'
)
NODES = {
    'feedforward': tables.FEEDFORWARD, 'simulated_robot': tables.SIMULATED_ROBOT,
    'effort_controller': tables.EFFORT_CONTROLLER, 'effort_watchdog': tables.EFFORT_WATCHDOG,
    'trajectory_effort': tables.TRAJECTORY_EFFORT, 'teleoperation': tables.TELEOPERATION,
}
OF_EVERY_NODE = {
    '/parameter_events', '/rosout', '~/describe_parameters', '~/get_parameter_types',
    '~/get_parameters', '~/list_parameters', '~/set_parameters', '~/set_parameters_atomically',
    '~/get_type_description',
}
OF_LIFECYCLE = {
    '~/change_state', '~/get_state', '~/get_available_states', '~/get_available_transitions',
    '~/get_transition_graph', '~/transition_event',
}
QOS = {
    tables.BEST_EFFORT: (ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE),
    tables.RELIABLE: (ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE),
    tables.LATCHED: (ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL),
}


@pytest.fixture(scope='module')
def graph() -> Iterator[Any]:
    """Give a node that sees all the others, each with all that it can have."""
    domain_id = new_domain_id()
    with ExitStack() as running:
        for name, parameters in (
            ('sim.simulated_robot',
             'urdf:=urdf/panda_arm.urdf publish_clock:=true wrench_link:=fer_link7'),
            ('watchdog.effort_watchdog', ''), ('trajectory_effort.trajectory_effort_node', ''),
            ('teleoperation.teleoperation_node', 'joints:=[fer_joint1] dead_man_topic:=dead_man'),
            ('node.feedforward_node', INPUTS),
        ):
            given = [part for each in parameters.split() for part in ('-p', each)]
            process = RosProcess(f'rnea_ros.{name}', '--ros-args', *given, domain_id=domain_id)
            node = running.enter_context(process)
        observer = running.enter_context(ros_node(domain_id))
        node.wait_for('active')
        assert wait_until(lambda: NODES.keys() <= {*observer.get_node_names()})
        yield observer


def full_name(node: NodeInterface, name: str) -> str:
    """Return the name that the graph has for what the table names."""
    kind, _, parameter = name.partition(':')
    own_name = name.replace('~', f'/{node.name}').replace('<name>', 'flange')
    name = GIVEN[parameter] if kind == 'parameter' else own_name
    return name if name.startswith('/') else f'/{name}'


def own(node: NodeInterface, names_and_types: Any) -> set[tuple[str, str]]:
    """Return names and types as the graph has them, without what others have too."""
    standard = OF_EVERY_NODE | (OF_LIFECYCLE if node.lifecycle else set())
    usual = {full_name(node, name) for name in standard}
    return {
        (name, kind) for name, (kind,) in names_and_types
        if name not in usual and '/_action/' not in name
    }


def assert_becomes(found: Callable[[], object], expected: object, label: str = '') -> None:
    wait_until(lambda: found() == expected)
    assert found() == expected, label


@pytest.mark.ros
@pytest.mark.parametrize('node', NODES.values(), ids=NODES)
def test_topics_services_and_qos_are_those_of_the_node(graph: Any, node: NodeInterface) -> None:
    for read, endpoints in (
        (graph.get_subscriber_names_and_types_by_node, node.subscribes),
        (graph.get_publisher_names_and_types_by_node, node.publishes),
        (graph.get_service_names_and_types_by_node, node.services),
    ):
        expected = {(full_name(node, e.name), e.type) for e in endpoints if not e.optional}
        assert_becomes(lambda read=read: own(node, read(node.name, '/')), expected)  # type: ignore[misc]
    for infos, endpoints in (
        (graph.get_subscriptions_info_by_topic, node.subscribes),
        (graph.get_publishers_info_by_topic, node.publishes),
    ):

        def offered(topic: str, infos: Any = infos) -> Any:
            qos = [info.qos_profile for info in infos(topic) if info.node_name == node.name]
            return {(each.reliability, each.durability) for each in qos}

        for endpoint in endpoints:
            if not endpoint.optional:
                topic = full_name(node, endpoint.name)
                assert_becomes(partial(offered, topic), {QOS[endpoint.qos]}, endpoint.name)


def test_the_page_is_the_one_that_is_written_from_the_declarations() -> None:
    page = (ROOT / 'docs/interface.md').read_text(encoding='utf-8')
    command = 'python docs/interface_reference.py > docs/interface.md'
    assert page == interface_reference.page(), f'out of date: {command}'


@pytest.mark.ros
def test_the_reference_has_every_key_of_the_diagnostics(graph: Any) -> None:
    seen: dict[str, list[str]] = {}

    def take(message: Any) -> None:
        for status in message.status:
            seen[status.name] = [value.key for value in status.values]

    graph.create_subscription(DiagnosticArray, '/diagnostics', take, 10)
    of_a_plan = ('points', 'greatest_share_of_limit', 'greatest_deviation')
    expected = {
        'effort_watchdog': [*diagnostics.WATCHDOG_DIAGNOSTICS],
        'feedforward: control': [*diagnostics.CONTROL_DIAGNOSTICS],
        'teleoperation': [*diagnostics.TELEOPERATION_DIAGNOSTICS],
        'trajectory_effort: trajectories': [
            key for key in diagnostics.EFFORT_DIAGNOSTICS if key not in of_a_plan
        ],
    }

    def found() -> dict[str, list[str]]:  # without those of a sensor, and counts
        return {name: [key for key in seen.get(name, ()) if '/' not in key] for name in expected}

    assert_becomes(found, expected)
    counts = [key for key in seen['feedforward: control'] if key.count('/') == 2]
    assert {key.split('/')[1] for key in counts} <= diagnostics.COUNTS.keys()


# The SROS2 policy

POLICY = ROOT / 'config/sros2_policy.xml'
COMMANDS = '/effort_controller/commands'
POLICED = ('feedforward', 'effort_watchdog', 'teleoperation')
OF_ACTIONS = {
    'publish': ('feedback', 'status'), 'reply': ('send_goal', 'cancel_goal', 'get_result'),
}


def rules(enclave: str, action: str, qualifier: str = 'ALLOW') -> set[str]:
    """
    Return the absolute names that an enclave may, or may not, do something with.

    sros2 makes rules for topics and services out of an action: these are returned, too.
    """
    executed = rules(enclave, 'execute', qualifier) if action in OF_ACTIONS else ()
    found = {f'{name}/_action/{part}' for name in executed for part in OF_ACTIONS[action]}
    path = f".//enclave[@path='/rnea_ros/{enclave}']//profile"
    for profile in ElementTree.parse(POLICY).getroot().findall(path):
        namespace, node = profile.attrib['ns'].rstrip('/'), profile.attrib['node']
        for element in profile.findall(f"*[@{action}='{qualifier}']/*"):
            name = (element.text or '').replace('~', f'{namespace}/{node}')
            found.add(name if name.startswith('/') else f'{namespace}/{name}')
    return found


def test_only_the_node_and_its_watchdog_may_publish_commands() -> None:
    copies = f'{COMMANDS}/watchdog'
    published = {name: rules(name, 'publish') & {COMMANDS, copies} for name in POLICED}
    assert published == {
        'feedforward': {COMMANDS}, 'effort_watchdog': {COMMANDS, copies}, 'teleoperation': set(),
    }
    assert not any('*' in name for enclave in POLICED for name in rules(enclave, 'publish'))
    assert rules('others', 'publish') == {'/*', '/*/_action/feedback', '/*/_action/status'}
    assert rules('others', 'publish', 'DENY') == {COMMANDS, copies}


@pytest.mark.ros
@pytest.mark.parametrize('name', POLICED)
def test_the_policy_allows_what_a_node_does_and_nothing_else(graph: Any, name: str) -> None:
    not_needed = {'/clock', f'/{name}/get_type_description'}  # simulated time; not on Humble
    if name == 'effort_watchdog':
        not_needed.add('/controller_manager/switch_controller')  # its other action asks for it

    def differences(action: str, role: str) -> set[str]:
        read = getattr(graph, f'get_{role}_names_and_types_by_node')
        allowed, done = rules(name, action), {topic for topic, _ in read(name, '/')}
        if find_spec('control_msgs') is None:  # the node has no action then
            allowed = {topic for topic in allowed if '/_action/' not in topic}
        return (allowed ^ done) - not_needed

    for action, role in (
        ('publish', 'publisher'), ('subscribe', 'subscriber'), ('reply', 'service'),
        ('request', 'client'),
    ):
        assert_becomes(partial(differences, action, role), set(), action)


LAYOUTS = ROOT / 'layouts'
STATUS = 'feedforward: control'
JOINTS = load(ROOT / 'urdf/panda_arm.urdf').joint_names
SUMMANDS = (f'/feedforward/terms/{name}' for name in NAMES if name != 'sum')
TOPICS = {'/joint_states', '/feedforward/effort', *SUMMANDS}


def test_plotjuggler_shows_terms_and_diagnostics_that_exist() -> None:
    root = ElementTree.parse(LAYOUTS / 'plotjuggler.xml').getroot()
    names = {curve.attrib['name'] for curve in root.iter('curve')}
    efforts = {f'{topic}/{joint}/effort' for topic in TOPICS for joint in JOINTS}
    assert efforts <= names
    keys = {name.removeprefix(f'/diagnostics/{STATUS}/') for name in names - efforts}
    assert keys
    assert keys <= CONTROL_DIAGNOSTICS.keys() | {'level'}
    (selected,) = root.iter('selected_topics')
    assert set(selected.attrib['value'].split(';')) == {*TOPICS, '/diagnostics'}


def test_foxglove_shows_terms_and_diagnostics_that_exist() -> None:
    layout = json.loads((LAYOUTS / 'foxglove.json').read_text(encoding='utf-8'))
    panels = layout['configById'].values()
    paths = {path['value'] for panel in panels for path in panel.get('paths', ())}
    assert paths == {f'{topic}.effort[{k}]' for topic in TOPICS for k in range(len(JOINTS))}
    assert {panel.get('topicToRender', '/diagnostics') for panel in panels} == {'/diagnostics'}
    assert {panel.get('selectedName', STATUS) for panel in panels} == {STATUS}
    shown = set(re.findall(r'\w+![\w-]+', json.dumps(layout['layout']) + json.dumps([*panels])))
    assert shown == layout['configById'].keys()
