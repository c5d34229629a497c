# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Lifecycle, automatic start and stop of the node, in virtual time: nothing is left behind."""

from collections.abc import Iterator
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.lifecycle import TransitionCallbackReturn

from rnea_ros.node import (
    activation,
    autostart,
    configuration,
    control_setup,
    feedforward_node,
    loop,
)
from rnea_ros.node.command_topic import DISCOVERY
from support.ros.command_graph import CONTROLLER, TOPIC
from support.ros.fake_robot import DEFAULT_RATE_LIMIT, GRAVITY, JOINTS, LIMITS, PANDA_ARM
from support.ros.virtual_node import VirtualRig, virtual_node

SUCCESS, ERROR = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.ERROR
FAILURE = TransitionCallbackReturn.FAILURE


@pytest.fixture
def rig() -> Iterator[VirtualRig]:
    """A node without autostart that knows its controller."""
    with virtual_node(autostart=False) as rig:
        rig.run(0.3)
        yield rig


def raise_it(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError('planted')


def remains(rig: VirtualRig) -> Any:
    """Return the publishers, subscriptions and threads that exist."""
    topics = {topic: len(each) for topic, each in rig.subscriptions.items() if each}
    return sorted(rig.created), topics, threading.active_count()


def live(rig: VirtualRig) -> Any:
    """Let the node live once from configure to cleanup; return what remains."""
    assert rig.node.trigger_configure() is SUCCESS
    assert rig.node.trigger_activate() is SUCCESS
    rig.wait_for_command(GRAVITY)
    assert rig.created.count(TOPIC) == 1
    assert rig.node.trigger_deactivate() is SUCCESS
    assert not any(effort.any() for _, effort in rig.commands[-loop.REPEATS:])
    assert rig.node.trigger_cleanup() is SUCCESS
    return remains(rig)


# --- transitions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(('transition', 'module', 'part'), [
    ('configure', configuration, 'Publishers'), ('configure', control_setup, 'resolve'),
    ('activate', activation, 'Reporter'),
    ('activate', activation, 'subscribe_speed_scaling'),
    ('activate', loop, 'ManualGarbageCollection'), ('activate', activation, 'ControlLoop'),
    ('deactivate', loop, 'leave_realtime'),
])
def test_what_a_transition_raises_is_logged_and_later_lives_leave_nothing(
    rig: VirtualRig, transition: str, module: Any, part: str
) -> None:
    before = remains(rig)
    for step in ('configure', 'activate', 'deactivate'):
        with pytest.MonkeyPatch.context() as patch:
            if step == transition:
                patch.setattr(module, part, raise_it)
            result = getattr(rig.node, f'trigger_{step}')()
        if step == transition:
            break
        assert result is SUCCESS
        rig.run(0.5)
    assert result is ERROR
    (line,) = [text for text in rig.log.lines if text.startswith('error')]
    assert line.startswith(f'error: on_{transition} failed: Traceback')
    assert 'ZeroDivisionError: planted' in line
    assert (rig.state, remains(rig)) == ('none', before)
    assert live(rig) == live(rig) == before


@pytest.mark.parametrize('transition', ['shutdown', 'deactivate'])
def test_a_stop_ramps_down_from_where_it_is(rig: VirtualRig, transition: str) -> None:
    assert rig.node.trigger_configure() is SUCCESS
    assert rig.node.trigger_activate() is SUCCESS
    rig.wait_for_command(GRAVITY)
    since = len(rig.commands)
    assert getattr(rig.node, f'trigger_{transition}')() is SUCCESS
    shares = np.array([effort[1] for _, effort in rig.commands[since:]]) / GRAVITY[1]
    assert (np.diff(shares) <= 1e-9).all()
    assert shares[0] > 0.5
    assert shares[-1] == 0.0
    step = DEFAULT_RATE_LIMIT * LIMITS[1] * 0.01
    assert np.abs(np.diff(shares)).max() * abs(GRAVITY[1]) <= step
    sent = len(rig.commands)
    rig.run(1.0)
    assert len(rig.commands) == sent


# --- the description -----------------------------------------------------------------------------


def test_a_bad_description_is_rejected_by_name_and_a_good_one_taken() -> None:
    bad = PANDA_ARM.replace('type="revolute"', 'type="elastic"', 1)
    with virtual_node(urdf=bad) as rig:
        rig.run(2.0)
        assert rig.logged("cannot configure: joint 'fer_joint1': unknown type 'elastic'") == 1
        rig.describe(PANDA_ARM)
        rig.wait_for_command(GRAVITY)
        rig.describe(bad)
        rig.run(0.5)
        assert rig.logged('the new robot_description takes effect at the next activation') == 1
        assert rig.node.trigger_deactivate() is SUCCESS
        assert rig.node.trigger_activate() is FAILURE


# --- the automatic start -------------------------------------------------------------------------


def test_the_node_says_what_it_waits_for() -> None:
    with virtual_node(urdf=None, joints=None) as rig:
        rig.run(2.0)
        missing = 'no robot_description, neither as parameter nor on /robot_description'
        assert rig.logged(f'info: waiting: {missing}') == 1
        rig.describe(PANDA_ARM)
        rig.run(2.0)
        assert rig.logged('info: waiting: /effort_controller names no joints; set joints') == 1
        assert rig.change(joints=list(JOINTS)).successful
        rig.wait_for_command(GRAVITY)


def test_without_autostart_it_waits_for_a_lifecycle_manager(rig: VirtualRig) -> None:
    rig.run(5.0)
    assert (rig.state, rig.commands) == ('none', [])


def test_a_second_controller_is_waited_for_after_the_newest_one() -> None:
    with virtual_node() as rig:
        rig.graph.listeners = {}
        rig.run(1.0)
        rig.graph.listeners = {1: CONTROLLER}
        rig.run(0.8 * autostart.DISCOVERY)
        rig.graph.listeners[2] = CONTROLLER
        rig.run(2.0)
        assert rig.state == 'none'
        assert rig.logged('info: waiting: 2 controllers named /effort_controller') == 1
        del rig.graph.listeners[2]
        rig.wait_for_command(GRAVITY)


@pytest.mark.parametrize(('topic', 'said'), [
    (TOPIC, f'/rival publishes on {TOPIC} already'),
    ('/joint_states', '2 nodes named /rival publish on /joint_states: two robots'),
])
def test_a_second_robot_is_waited_for(topic: str, said: str) -> None:
    with virtual_node() as rig:
        rig.publishers[topic] = ['rival', 'rival']
        rig.run(3.0)
        assert rig.logged(f'info: waiting: {said}') == 1
        assert not rig.commands
        rig.publishers[topic] = []
        rig.wait_for_command(GRAVITY)


def test_a_start_that_a_late_discovery_prevents_is_tried_again() -> None:
    with virtual_node() as rig:
        configure = rig.node.trigger_configure

        def discover() -> Any:
            rig.publishers[TOPIC] = ['rival']
            return configure()

        rig.node.trigger_configure = discover
        rig.run(autostart.DISCOVERY + 0.2)
        assert rig.logged(f'error: cannot activate: /rival publishes on {TOPIC} already') == 1
        rig.node.trigger_configure = configure
        rig.run(autostart.TRY_LATER[1])
        assert rig.state == 'none'
        rig.publishers[TOPIC] = []
        rig.wait_for_command(GRAVITY)


def test_a_start_that_fails_for_another_reason_is_left_to_the_user(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedforward_node, 'Activation', raise_it)
    with virtual_node() as rig:
        rig.run(2.0 * autostart.TRY_LATER[1])
        assert rig.logged('on_activate failed') == 1


@pytest.mark.parametrize(('after', 'goes_on'), [(0.1, False), (DISCOVERY, True)])
def test_of_two_publishers_found_soon_the_control_ends(after: float, *, goes_on: bool) -> None:
    with virtual_node() as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        rig.run(after)
        rig.publishers[TOPIC] = ['rival']
        rig.run(2.0)
        assert rig.count('second_publisher') == 1
        soon = rig.logged(f'error: /rival publishes on {TOPIC} already')
        late = rig.logged('warning: /rival publishes commands to /effort_controller too')
        assert (soon, late) == (not goes_on, goes_on)
        assert rig.flags == {'second_publisher'}
        assert rig.newest.any() == goes_on
        rig.publishers[TOPIC] = []
        rig.wait_for_command(GRAVITY)
        rig.run(1.0)
        assert (rig.state, rig.flags) == ('active', set())


def test_the_control_ends_with_a_process_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []
    node = SimpleNamespace(
        action=SimpleNamespace(finishing=lambda: False), shut_down=lambda: ended.append(True)
    )
    monkeypatch.setattr(feedforward_node, 'NodeProcess', lambda *_: SimpleNamespace(
        create=lambda _: node, spin=raise_it
    ))
    with pytest.raises(ZeroDivisionError):
        feedforward_node.main([])
    assert ended
