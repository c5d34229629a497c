# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is set while the node is inactive acts from the next activation on, or is rejected."""

from collections.abc import Iterator, Mapping
from functools import partial
import os
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from support.ros.fake_robot import GRAVITY, JOINTS, LIMITS, MODEL, PATIENT, POSE, FakeRobot
from support.ros.node_in_process import NodeInProcess, node_in_process
from support.ros.ros_process import NO_ROS, wait_for_ends

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

pytestmark = pytest.mark.ros

Array = NDArray[np.float64]

LIVES = 10
QUICK = '-p ramp_duration:=0.05 -p hold_duration:=0.05 '
TOPIC = '/effort_controller/commands'

UNUSABLE: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({'gravity': [0.0, 9.81]}, 'gravity: '),
    ({'gravity': [0.0, 0.0, -9810.0]}, 'gravity: value 3 of 3, -9810.0 is not between'),
    ({'joints': ['elbow']}, 'joints: '),
    ({'joints': list(reversed(JOINTS))}, 'joints: /effort_controller takes commands in ano'),
    ({'payload__link': ['nose']}, "payload.link: 'nose' is not a link"),
    ({'payload__mass': [1e308]}, 'payload.mass: 1e+308 is not between 0 and 10000'),
    ({'gains__kp': [1.0] * 100_000}, 'gains.kp: [1.0, 1.0, 1.0, 1.0, ...] has 100000 values'),
    ({'gains__kp': [1.0] * 5 + [-1.0]}, 'gains.kp: value 6 of 6, -1.0 is not between'),
    ({'robot_description': '<robot/>'}, 'robot_description: '),
    ({'base_sensor__topic': 'imu', 'base_sensor__link': 'fer_link3'}, 'moves with its joints'),
    ({'mode': 'w' * 100_000}, 'is none of gravity'),
    ({'rate': 500}, 'rate: 500 is of type integer, not double; write 1.0, not 1'),
    ({'no_such': 1.0}, 'no_such: no such parameter'),
    ({'realtime__cpu_affinity': [2**40]}, 'realtime.cpu_affinity: 1099511627776 is not betw'),
    ({'effort_rate_limit': [5e-324]}, 'effort_rate_limit: '),
    ({'hardware_compensates': ['none', 'gravity']}, 'hardware_compensates: '),
)


@pytest.fixture
def runner(robot: FakeRobot, domain_id: int) -> Iterator[NodeInProcess]:
    """Give a node that was active, and is inactive."""
    with node_in_process(domain_id, PATIENT + QUICK) as runner:
        assert runner.wait_until(lambda: robot.steady(GRAVITY))
        assert runner.node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS
        yield runner


def set_all(runner: NodeInProcess, **values: Any) -> Any:
    """Set parameters together; return the result."""
    return runner.node.set_parameters_atomically([
        Parameter(name.replace('__', '.'), value=value) for name, value in values.items()
    ])


def activate(runner: NodeInProcess, robot: FakeRobot) -> None:
    robot.diagnostics.clear()
    robot.commands.clear()
    assert runner.node.trigger_activate() is TransitionCallbackReturn.SUCCESS


def is_flagged(robot: FakeRobot, stale: bool) -> bool:
    return robot.controlled and ('base_stale' in robot.diagnostics['flags']) == stale


def test_gravity_and_payload_act_once_activated(runner: NodeInProcess, robot: FakeRobot) -> None:
    assert set_all(runner, gravity=[0.0, 9.81, 0.0]).successful
    assert set_all(runner, payload__link=['fer_link4'], payload__mass=[2.0]).successful
    turned = MODEL.with_gravity((0.0, 9.81, 0.0)).with_payload('fer_link4', 2.0)
    activate(runner, robot)
    assert runner.wait_until(lambda: robot.steady(turned.gravity_torques(POSE)))
    robot.assert_safe()


def test_a_base_sensor_may_be_switched_off_and_on(robot: FakeRobot, domain_id: int) -> None:
    with node_in_process(domain_id, f'{PATIENT}{QUICK}-p base_sensor.topic:=imu') as runner:
        assert runner.wait_until(partial(is_flagged, robot, True))
        for topic in ('', 'imu'):
            runner.node.trigger_deactivate()
            assert set_all(runner, base_sensor__topic=topic).successful
            activate(runner, robot)
            assert runner.wait_until(lambda: robot.steady(GRAVITY))
            assert runner.wait_until(partial(is_flagged, robot, bool(topic)))
            assert runner.node.count_subscribers('/imu') == bool(topic)


def test_a_description_is_used_at_the_activation(runner: NodeInProcess, robot: FakeRobot) -> None:
    import rnea_ros
    from support.ros.fake_robot import PANDA_ARM

    heavier = PANDA_ARM.replace('<mass value="', '<mass value="1')
    assert heavier != PANDA_ARM
    assert set_all(runner, robot_description=heavier).successful
    model = rnea_ros.RobotModel.from_urdf(heavier)
    activate(runner, robot)
    held = np.clip(model.gravity_torques(POSE), -LIMITS, LIMITS)
    assert runner.wait_until(lambda: robot.steady(held))


def test_what_cannot_be_used_is_rejected_in_words(runner: NodeInProcess, robot: FakeRobot) -> None:
    for values, reason in UNUSABLE:
        result = set_all(runner, **values)
        assert not result.successful
        assert reason in result.reason
        assert len(result.reason) < 500
        activate(runner, robot)
        assert runner.wait_until(lambda: robot.steady(GRAVITY)), reason
        assert runner.node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS


def test_what_a_callback_rejects_has_no_effect(runner: NodeInProcess, robot: FakeRobot) -> None:
    from rcl_interfaces.msg import SetParametersResult

    activate(runner, robot)
    node = runner.node
    callbacks = getattr(node, '_on_set_parameters_callbacks', None)
    if callbacks is None:  # Humble
        callbacks = node._parameters_callbacks
    callbacks.append(lambda _: SetParametersResult(successful=False, reason='not today'))
    assert runner.wait_until(lambda: robot.steady(GRAVITY))
    result = set_all(runner, payload__link=['fer_link8'], payload__mass=[2.0])
    assert not result.successful
    assert 'not today' in result.reason
    runner.spin(0.5)
    assert robot.steady(GRAVITY)


def test_without_callbacks_after_a_set_as_on_humble_what_is_set_acts_too(
    robot: FakeRobot, domain_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr('rclpy.node.Node.add_post_set_parameters_callback', raising=False)
    loaded = MODEL.with_payload('fer_link8', 2.0).gravity_torques(POSE)
    with node_in_process(domain_id, PATIENT + QUICK) as runner:
        assert runner.wait_until(lambda: robot.steady(GRAVITY))
        assert set_all(runner, payload__link=['fer_link8'], payload__mass=[2.0]).successful
        assert runner.wait_until(lambda: robot.steady(loaded))


def test_exceptions_are_rejections(runner: NodeInProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise AssertionError('broken check')

    monkeypatch.setattr('rnea_ros.node.feedforward_node.make_setup', broken)
    result = set_all(runner, mode='feedforward')
    assert not result.successful
    assert result.reason == 'mode: AssertionError: broken check'


def test_what_is_read_back_acts_through_10_lives(runner: NodeInProcess, robot: FakeRobot) -> None:
    rng = np.random.default_rng(50)
    left: list[tuple[int, int, int]] = []
    for life in range(LIVES):
        desired = random_values(rng)
        for name, value in desired.items():
            result = runner.node.set_parameters_atomically([Parameter(name, value=value)])
            assert result.successful, result.reason
        activate(runner, robot)
        expected = effort_of(runner)
        steady = runner.wait_until(partial(robot.steady, expected, 1e-6))
        assert steady, (life, desired, expected, robot.newest)
        robot.efforts.clear()
        rate = runner.node.get_parameter('rate').value
        assert runner.wait_until(partial(comes_at, robot, rate)), (life, rate, robot.efforts)
        robot.diagnostics.clear()
        assert runner.node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS
        mode = runner.node.get_parameter('mode').value
        # A deactivation ends with diagnostics.
        assert runner.wait_until(lambda m=mode: robot.diagnostics.get('mode') == m), mode  # type: ignore[misc]
        wait_for_ends()  # of the tests before
        descriptors = len(os.listdir('/proc/self/fd'))
        publishers = runner.node.count_publishers(TOPIC)
        left.append((publishers, threading.active_count(), descriptors))
    assert len({(publishers, threads) for publishers, threads, _ in left[5:]}) == 1, left
    assert left[-1][2] <= left[5][2] + 2, left


def comes_at(robot: FakeRobot, rate: float) -> bool:
    """
    Return whether the last commands came at a rate, Hz.

    A busy computer skips ticks for a while; the rates are far apart.
    """
    stamps = [stamp for stamp, _ in robot.efforts[-10:]]
    return len(stamps) == 10 and 0.7 < float(np.median(np.diff(stamps))) * rate < 1.6


def random_values(rng: np.random.Generator) -> dict[str, Any]:
    """Return parameters, one after the other, that may be set while inactive."""
    direction = rng.normal(size=3)
    payload = bool(rng.random() < 0.5)
    values: dict[str, Any] = {
        'gravity': (9.81 * direction / np.linalg.norm(direction)).tolist(),
        'payload.link': ['fer_link8'] if payload else [''],
        'payload.mass': [float(rng.uniform(0.1, 2.0))],
        'payload.com': rng.uniform(-0.1, 0.1, size=3).tolist(),
        'hardware_compensates': [
            ['none'], ['gravity'], ['payload'], ['gravity', 'payload'],
        ][rng.integers(4)],
        'rate': float(rng.choice([30.0, 60.0, 125.0])),
        'mode': str(rng.choice(['gravity', 'feedforward', 'feedback', 'computed_torque'])),
        'gains.kp': [float(rng.uniform(0.0, 100.0))],
        'effort_limits': [float(rng.choice([0.0, 5.0, 20.0]))],
        'friction.model': str(rng.choice(['none', 'urdf'])),
        'base_sensor.topic': str(rng.choice(['', 'imu'])),
        'differentiate_velocity': bool(rng.random() < 0.5),
        'strict_inertia': False,
    }  # fmt: skip
    return values


def effort_of(runner: NodeInProcess) -> Array:
    """Return the effort that holds the arm under the parameters that are read back."""

    def value(name: str) -> Any:
        return runner.node.get_parameter(name).value

    bare = MODEL.with_gravity(tuple(value('gravity')))
    loaded = bare
    if value('payload.link') != ['']:
        loaded = bare.with_payload('fer_link8', value('payload.mass')[0], value('payload.com'))
    weight, load = bare.gravity_torques(POSE), np.zeros(7)
    load = loaded.gravity_torques(POSE) - weight
    adds = value('hardware_compensates')
    effort = weight * ('gravity' not in adds) + load * ('payload' not in adds)
    limit = value('effort_limits')[0]
    limits = np.full(7, limit) if limit else LIMITS
    return np.asarray(np.clip(effort, -limits, limits))
