# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the node publishes beside the command, while somebody listens: virtual time."""

from array import array
from typing import Any

import numpy as np
import pytest

from rnea_ros import Wrench
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from geometry_msgs.msg import WrenchStamped

from rnea_ros.ros import seconds
from support.ros.fake_robot import GRAVITY, JOINTS, LIMITS, MODEL, POSE
from support.ros.virtual_node import virtual_node

REST = np.zeros(7)
PUSH = np.array([3.0, -4.0, 12.0])
LINK = 'fer_link8'
FORCE, TORQUE = (12.0, -7.0, 5.0), (0.5, 0.0, -1.0)
SCALE = np.array([4.0, 4.0, -4.0, 2.5, 0.5, 0.5, -0.5])
"""N m per ampere of each joint, three of them with an inverted sign."""


def numbers(vector: Any) -> list[float]:
    return [vector.x, vector.y, vector.z]


def stamps(messages: list[Any]) -> list[float]:
    return [seconds(message.header.stamp) for message in messages]


def test_nothing_is_published_that_nobody_listens_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with virtual_node() as rig:
        rig.wait_until_controlled()
        topics: list[str] = []
        monkeypatch.setattr(rig, 'on_publish', lambda _, topic, __: topics.append(topic))
        rig.run(1.0)
        assert topics.count('/effort_controller/commands') == 100
        assert topics.count('/diagnostics') == len(topics) - 100 == 1


def test_wrenches_name_their_frame_and_end_with_readings() -> None:
    message = WrenchStamped()
    message.header.frame_id = LINK
    message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = PUSH.tolist()
    pose = MODEL.forward_kinematics(POSE, LINK)
    force = pose[:3, :3] @ PUSH
    expected = {
        'flange': (LINK, PUSH, REST[:3]),
        'pushed': ('fer_link0', force, np.cross(pose[:3, 3], force)),
    }
    options: dict[str, Any] = {
        'wrench_inputs__names': list(expected), 'wrench_inputs__pushed__publish_frame': 'base',
        **{f'wrench_inputs__{name}__topic': f'{name}/wrench' for name in expected},
        **{f'wrench_inputs__{name}__timeout': 0.3 for name in expected},
    }
    with virtual_node(**options) as rig:
        sources = [rig.repeat(f'/{name}/wrench', message, 0.005) for name in expected]
        rig.subscribed_topics |= {f'/feedforward/wrench/{name}' for name in expected}
        rig.wait_until_controlled().run(2.0)
        for name, (frame, along, about) in expected.items():
            messages = rig.received[f'/feedforward/wrench/{name}']
            newest = messages[-1]
            assert newest.header.frame_id == frame
            assert numbers(newest.wrench.force) == pytest.approx(along, abs=1e-6)
            assert numbers(newest.wrench.torque) == pytest.approx(about, abs=1e-6)
            np.testing.assert_allclose(np.diff(stamps(messages)), 0.01, atol=1e-8)
            assert stamps(messages)[-1] == pytest.approx(rig.time.time(), abs=0.011)
        for source in sources:
            source.sending = False
        rig.run(2.0)
        assert rig.flags == {'wrench_stale'}
        before = len(rig.received['/feedforward/wrench/flange'])
        rig.run(1.0)
        assert len(rig.received['/feedforward/wrench/flange']) == before


def test_external_efforts_and_contacts_are_published() -> None:
    pushed = MODEL.inverse_dynamics(POSE, REST, REST, {LINK: Wrench(FORCE, TORQUE)})
    with virtual_node(external_effort__link=LINK, contact__action='flag') as rig:
        rig.subscribed_topics |= {'/feedforward/external_effort', '/feedforward/external_wrench'}
        rig.robot.message.effort = array('d', GRAVITY)
        rig.wait_until_controlled().run(2.0)
        efforts = rig.received['/feedforward/external_effort']
        assert efforts[-1].name == list(JOINTS)
        np.testing.assert_allclose(efforts[-1].effort, 0.0, atol=1e-6)
        assert rig.diagnostics['contact'] == ''
        rig.robot.message.effort = array('d', pushed)
        rig.run(3.0)
        np.testing.assert_allclose(efforts[-1].effort, GRAVITY - pushed, rtol=1e-3, atol=1e-3)
        wrench = rig.received['/feedforward/external_wrench'][-1]
        assert stamps([wrench]) == stamps(efforts[-1:])
        assert wrench.header.frame_id == LINK
        np.testing.assert_allclose(numbers(wrench.wrench.force), FORCE, rtol=0.01)
        np.testing.assert_allclose(numbers(wrench.wrench.torque), TORQUE, atol=0.01)
        assert rig.flags == {'contact'}
        assert rig.diagnostics['contact'].split()[0] in JOINTS
        assert rig.diagnostics['external_wrench_determined'] == '6'
        assert rig.count('contact') == rig.logged('warning: contact: fer_joint') == 1
        rig.robot.message.effort = array('d', GRAVITY)
        rig.run(3.0)
        assert rig.flags == set()


@pytest.mark.parametrize('rate', [30.0, 500.0])
def test_the_terms_add_up_to_the_command(rate: float) -> None:
    names = ('gravity', 'coriolis', 'inertia', 'feedback', 'limited', 'sum')
    with virtual_node(compensate_coriolis=True, rate=rate) as rig:
        topics = {'effort', *(f'terms/{name}' for name in names)}
        rig.subscribed_topics |= {f'/feedforward/{topic}' for topic in topics}
        position = rig.robot.message.position
        rig.robot.message.velocity = array('d', [0.3] * 7)
        rig.robot.before_each = lambda: position.__setitem__(
            slice(7), array('d', np.add(position, 0.003))
        )
        rig.wait_until_controlled().run(1.0)

        def efforts(topic: str) -> dict[float, Any]:
            messages = rig.received[f'/feedforward/{topic}']
            values = [np.array(message.effort) for message in messages]
            return dict(zip(stamps(messages), values, strict=True))

        commands, terms = efforts('effort'), [efforts(f'terms/{name}') for name in names]
        # Of the last second: a set of terms at most every 10 ms.
        sets = set(commands).intersection(*terms)
        assert len(sets) > 0.8 * min(rate, 100.0)
        for stamp in sets:
            total = sum(term[stamp] for term in terms[:-1])
            np.testing.assert_allclose(total, commands[stamp], atol=1e-9)
            np.testing.assert_array_equal(terms[-1][stamp], commands[stamp])
        coriolis = rig.received['/feedforward/terms/coriolis'][-1]
        assert coriolis.name == list(JOINTS)
        expected = MODEL.coriolis_torques(position, [0.3] * 7)
        np.testing.assert_allclose(coriolis.effort, expected, atol=0.01)


def test_the_reference_is_published_while_there_is_one() -> None:
    with virtual_node(mode='feedforward') as rig:
        rig.subscribed_topics |= {'/feedforward/reference'}
        rig.wait_until_controlled().run(1.0)
        assert not rig.received['/feedforward/reference']
        rig.send_trajectory((1.0, np.add(POSE, 0.1)))
        rig.run(0.5)
        middle = rig.received['/feedforward/reference'][-1]
        assert middle.name == list(JOINTS)
        assert rig.time.time() - seconds(middle.header.stamp) < 0.02
        np.testing.assert_allclose(middle.position, np.add(POSE, 0.05), atol=0.002)
        assert len(rig.received['/feedforward/reference']) == pytest.approx(50, abs=2)


def test_commands_are_amperes_and_all_else_is_newton_metres() -> None:
    start = GRAVITY + 1.0
    with virtual_node(
        effort_scale=SCALE.tolist(), command_scale=(1.0 / SCALE).tolist(), ramp_duration=0.3,
        effort_rate_limit=[1e6],
    ) as rig:
        rig.subscribed_topics.add('/feedforward/effort')
        rig.robot.message.effort = array('d', start / SCALE)
        rig.wait_until_controlled().wait_for_command(GRAVITY / SCALE)
        # The ramp goes straight from the measured effort.
        commands = np.array([command for _, command in rig.commands]) * SCALE
        share = (commands - GRAVITY) / (start - GRAVITY)
        np.testing.assert_allclose(share, np.tile(share[:, :1], 7), atol=1e-9)
        assert share[0, 0] == pytest.approx(1.0, abs=0.1)
        assert (np.diff(share[:, 0]) <= 1e-9).all()
        assert (np.abs(commands) <= LIMITS).all()
        newest = rig.received['/feedforward/effort'][-1].effort
        np.testing.assert_allclose(newest, GRAVITY, rtol=1e-12)


@pytest.mark.parametrize('order', [[3, 0, 6, 1, 5, 2, 4], [2, 3, 4]])
def test_commands_are_for_the_joints_of_the_controller_in_its_order(order: list[int]) -> None:
    with virtual_node(joints=[JOINTS[k] for k in order]) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY[order])
