# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The SROS2 policy: who may publish commands, and that it names what the nodes really declare."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
import xml.etree.ElementTree as ElementTree

import pytest

from support.models.robots import ROOT
from support.ros.fake_robot import fake_robot, node
from support.ros.ros_process import NO_ROS, RosProcess, wait_until

POLICY = ROOT / 'config/sros2_policy.xml'
COMMANDS = '/effort_controller/commands'
FEEDFORWARD, WATCHDOG, TELEOPERATION, OTHERS = ENCLAVES = tuple(
    f'/rnea_ros/{name}' for name in ('feedforward', 'effort_watchdog', 'teleoperation', 'others')
)
NODES = ENCLAVES[:-1]
OF_ACTIONS = {
    'publish': ('feedback', 'status'), 'reply': ('send_goal', 'cancel_goal', 'get_result'),
}
SENSORS = (
    '-p wrench_inputs.names:=[flange] -p wrench_inputs.flange.link:=fer_link8 '
    '-p wrench_inputs.flange.topic:=force_torque_sensor_broadcaster/wrench '
    '-p base_sensor.topic:=imu_sensor_broadcaster/imu -p base_sensor.link:=fer_link0 '
    '-p speed_scaling_topic:=speed_scaling_state_broadcaster/speed_scaling '
    '-p external_effort.link:=fer_link8 -p additional_effort.limits:=[1.0]'
)


def expanded(name: str, profile: ElementTree.Element) -> str:
    """Return a name as sros2 makes it: absolute, the node's own, or of its namespace."""
    namespace = profile.attrib['ns'].rstrip('/')
    if name.startswith('/'):
        return name
    if name.startswith('~'):
        return f'{namespace}/{profile.attrib["node"]}{name[1:]}'
    return f'{namespace}/{name}'


def rules(enclave: str, action: str, qualifier: str = 'ALLOW') -> set[str]:
    """
    Return the names that an enclave may, or may not, do something with.

    Topics and services of its actions included: sros2 makes rules for both out of an action.
    """
    of_actions = {
        f'{name}/_action/{part}'
        for part in OF_ACTIONS.get(action, ())
        for name in rules(enclave, 'execute', qualifier)
    }
    (element,) = ElementTree.parse(POLICY).getroot().findall(f".//enclave[@path='{enclave}']")
    return of_actions | {
        expanded(name.text or '', profile)
        for profile in element.iter('profile')
        for group in profile.findall(f"*[@{action}='{qualifier}']")
        for name in group
    }


def test_only_the_node_and_its_watchdog_may_publish_commands() -> None:
    may = {enclave: rules(enclave, 'publish') for enclave in ENCLAVES}
    assert COMMANDS in may[FEEDFORWARD]
    assert COMMANDS in may[WATCHDOG]
    assert COMMANDS not in may[TELEOPERATION]
    assert not any('*' in name for enclave in NODES for name in may[enclave])
    assert may[OTHERS] == {'/*', '/*/_action/feedback', '/*/_action/status'}
    copies = f'{COMMANDS}/watchdog'
    assert (copies in may[FEEDFORWARD], copies in may[WATCHDOG]) == (False, True)
    assert rules(OTHERS, 'publish', 'DENY') == {COMMANDS, copies}


def test_the_policy_has_the_form_that_sros2_reads() -> None:
    builder = ElementTree.TreeBuilder(insert_comments=True)
    root = ElementTree.parse(POLICY, ElementTree.XMLParser(target=builder)).getroot()
    assert (root.tag, root.attrib) == ('policy', {'version': '0.2.0'})
    (enclaves,) = root
    assert [enclave.get('path') for enclave in enclaves] == list(ENCLAVES)
    for profile in root.iter('profile'):
        assert profile.keys() == ['ns', 'node']
        groups = [group for group in profile if isinstance(group.tag, str)]
        assert all(set(group.attrib.values()) <= {'ALLOW', 'DENY'} for group in groups)
        assert all(len(group) > 0 for group in groups)


def test_sros2_takes_the_policy() -> None:
    policy = pytest.importorskip('sros2.policy', reason='sros2 (of ROS 2) is not installed')
    assert policy.load_policy(Path(POLICY)).getroot().tag == 'policy'


def test_the_document_names_every_enclave() -> None:
    text = (ROOT / 'docs/security.md').read_text(encoding='utf-8')
    for enclave in ENCLAVES:
        assert f'`{enclave}`' in text
    assert 'sros2_policy.xml' in text


def test_the_node_may_serve_every_action_of_its_interface() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from interface_tables import FEEDFORWARD as INTERFACE

    actions = {f'/feedforward{action.name[1:]}' for action in INTERFACE.actions}
    assert rules(FEEDFORWARD, 'execute') == actions


@pytest.fixture(scope='module')
def declared() -> Iterator[dict[str, dict[str, set[str]]]]:
    """What the ROS graph has of the nodes, by enclave and by the policy's word for it."""
    pytest.importorskip('rclpy', reason=NO_ROS)
    from support.ros.ros_process import new_domain_id

    domain_id = new_domain_id()
    words = {
        'publish': 'get_publisher_names_and_types_by_node',
        'subscribe': 'get_subscriber_names_and_types_by_node',
        'reply': 'get_service_names_and_types_by_node',
        'request': 'get_client_names_and_types_by_node',
    }
    watchdog = RosProcess('rnea_ros.watchdog.effort_watchdog', domain_id=domain_id)
    coupling = RosProcess(
        'rnea_ros.teleoperation.teleoperation_node', '--ros-args', '-p', 'joints:=[fer_joint1]',
        '-p', 'dead_man_topic:=dead_man', domain_id=domain_id,
    )
    seen: dict[str, dict[str, set[str]]] = {}
    with fake_robot(domain_id) as robot, node(domain_id, SENSORS), watchdog, coupling:

        def complete() -> bool:
            """Ask the graph for the nodes; discovery may bring each name at any time."""
            for enclave in NODES:
                name = enclave.rpartition('/')[2]
                if name not in robot.node.get_node_names():
                    return False
                seen[enclave] = {
                    word: {topic for topic, _ in getattr(robot.node, function)(name, '/')}
                    for word, function in words.items()
                }
            return not any(
                unused(enclave, word, does)
                for enclave, each in seen.items()
                for word, does in each.items()
            )

        wait_until(complete)
        assert seen.keys() == set(NODES)
        yield seen


def unused(enclave: str, word: str, does: set[str]) -> set[str]:
    """Return the names that the policy allows to a node that does not use them."""
    name = enclave.rpartition('/')[2]
    known = {f'/{name}/get_type_description'}  # that of ROS 2 Humble does not have it
    if enclave == WATCHDOG:
        known.add('/controller_manager/switch_controller')  # its other action asks for it
    if find_spec('control_msgs') is None:  # the node has no action then
        known.update(name for name in rules(enclave, word) if '/_action/' in name)
    return rules(enclave, word) - does - known


@pytest.mark.ros
@pytest.mark.parametrize('enclave', NODES)
@pytest.mark.parametrize('word', ['publish', 'subscribe', 'reply', 'request'])
def test_a_node_may_do_what_it_does_and_nothing_else(
    enclave: str, word: str, declared: dict[str, dict[str, set[str]]]
) -> None:
    does, may = declared[enclave][word], rules(enclave, word)
    without_need = sorted(unused(enclave, word, does))
    assert does <= may, f'the policy lacks {sorted(does - may)}'
    assert not without_need, f'the policy allows without need {without_need}'
