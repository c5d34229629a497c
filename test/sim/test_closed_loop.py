# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node and the simulated robot, each in its own process, over real DDS."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
import json
import math
from pathlib import Path
import signal
from typing import Any

import numpy as np
import pytest

import rnea_ros
from support.models.robots import ROOT
from support.ros import ros_process

pytest.importorskip('rclpy', reason=ros_process.NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')
pytest.importorskip('xacro', reason='xacro is not installed')
yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')

from rnea_ros.arrays import Array  # noqa: E402
from rnea_ros.ros import PolledSubscription, RepeatedRequest, seconds  # noqa: E402
from rnea_ros.sim.gazebo.description import GRAVITY, with_gazebo_control  # noqa: E402

pytestmark = pytest.mark.ros

URDF = ROOT / 'urdf/panda_arm.urdf'
JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))
READY = (0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4)

LOCKSTEP = {'state_rate': 500.0, 'publish_clock': True, 'lockstep': True}
"""Of the simulated robot: how slow the machine is, and how long it stalls, moves nothing."""

IN_LOCKSTEP = {'rate': 500.0, 'trigger': 'joint_states', 'use_sim_time': True}
"""Of the node, to go with it."""

LOCKSTEP_PATIENCE = 4.0 * ros_process.PATIENCE
"""How long a test waits for seconds of simulated time, s: other tests run beside it."""


class Arm:
    """
    What a test sees of the simulated arm.

    :param node: of the test's own
    :param process: of the arm
    """

    def __init__(self, node: Any, process: ros_process.RosProcess) -> None:
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState

        self.node = node
        self.process = process
        self.positions: list[Array] = []
        self.stamps: list[float] = []
        node.create_subscription(JointState, 'joint_states', self._on_state, QoSProfile(depth=50))
        # The thread of the node may be slower than time in lockstep: it does not see every state.
        self._all: PolledSubscription[Any] = PolledSubscription(
            node, JointState, 'joint_states',
            # A busy machine may lose states; it must not wait for them while newer ones come.
            QoSProfile(depth=20_000, reliability=ReliabilityPolicy.BEST_EFFORT)
        )

    def _on_state(self, message: Any) -> None:
        self.positions.append(positions_in(message))
        self.stamps.append(seconds(message.header.stamp))

    def all_states(self) -> tuple[Array, Array]:
        """Return the stamps, s, and the positions of the last 20,000 states."""
        messages = self._all.take_all()
        stamps = [seconds(message.header.stamp) for message in messages]
        return np.array(stamps), np.array([positions_in(message) for message in messages])


def positions_in(message: Any) -> Array:
    places = [message.name.index(name) for name in JOINTS]
    return np.array(message.position)[places]


@contextmanager
def arm_under_control(
    directory: Path, pose: Iterable[float], robot: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Iterator[tuple[Arm, ros_process.RosProcess]]:
    """
    Start the simulated arm at a pose, and the node; give both when the node is active.

    :param robot: further options of the simulated robot
    :param parameters: of the node
    """
    domain_id = ros_process.new_domain_id()
    values = {'joint_states_timeout': 5.0, 'hardware_compensates': ['none'], **parameters}
    control_file, arm_file = directory / 'control.yaml', directory / 'arm.yaml'
    control_file.write_text(json.dumps({'/**': {'ros__parameters': values}}))
    arm_file.write_text(
        json.dumps({
            '/**': {
                'ros__parameters': {
                    'urdf': str(URDF), 'initial_positions': [float(value) for value in pose],
                    'state_rate': 200.0, **(robot or {}),
                }
            }
        })
    )
    with (
        ros_process.ros_node(domain_id) as node,
        ros_process.RosProcess(
            'rnea_ros.sim.simulated_robot', '--ros-args', '--params-file', str(arm_file),
            domain_id=domain_id,
        ) as process,
    ):
        arm = Arm(node, process)
        assert ros_process.wait_until(lambda: len(arm.positions) > 0)
        with ros_process.RosProcess(
            'rnea_ros.node.feedforward_node', '--ros-args', '--params-file', str(control_file),
            domain_id=domain_id,
        ) as control:
            control.wait_for('active')
            yield arm, control


@pytest.mark.parametrize(('seed', 'robot', 'parameters'), [
    pytest.param(0, {}, {}, id='real time'),
    pytest.param(
        1, {**LOCKSTEP, 'state_rate': 200.0}, {**IN_LOCKSTEP, 'rate': 200.0}, id='lockstep'
    ),
])
def test_gravity_mode_holds_the_arm_where_it_is(
    tmp_path: Path, seed: int, robot: dict[str, Any], parameters: dict[str, Any]
) -> None:
    model = rnea_ros.RobotModel.from_urdf(URDF)
    middle = 0.5 * (model.position_lower + model.position_upper)
    room = 0.4 * (model.position_upper - model.position_lower)
    pose = middle + np.random.default_rng(seed).uniform(-room, room)
    with arm_under_control(tmp_path, pose, robot, **parameters) as (arm, _):
        begin = arm.stamps[-1]
        assert ros_process.wait_until(lambda: arm.stamps[-1] > begin + 4.0, LOCKSTEP_PATIENCE)
        drift = np.abs(np.array(arm.positions) - pose).max()
    print(f'drift {1e3 * drift:.3f} mrad in 4 s')
    assert drift < 2e-3


@pytest.mark.parametrize(
    ('predict', 'bound'),
    [pytest.param(False, 5e-3, id='as measured'), pytest.param(True, 0.5e-3, id='predicted')],
)
def test_computed_torque_tracks_a_fast_motion(tmp_path: Path, predict: bool, bound: float) -> None:
    amplitude, duration = 0.5, 6.0
    omega = 2.0 * math.pi * np.linspace(0.25, 0.5, 7)

    def desired(t: float) -> tuple[Array, Array, Array]:
        fade, fade1, fade2 = _fade(t, duration)
        s, s1, s2 = np.sin(omega * t), omega * np.cos(omega * t), -(omega**2) * np.sin(omega * t)
        return (
            READY + amplitude * fade * s, amplitude * (fade1 * s + fade * s1),
            amplitude * (fade2 * s + 2.0 * fade1 * s1 + fade * s2),
        )

    parameters: dict[str, Any] = {
        'mode': 'computed_torque', 'gains.kp': [100.0], 'gains.kd': [20.0],
        'predict_state': predict, **IN_LOCKSTEP,
    }
    robot = {**LOCKSTEP, 'command_delay': 2}
    with arm_under_control(tmp_path, READY, robot, **parameters) as (arm, control):
        start = follow(arm, desired, duration)
        assert 'rejected' not in control.output
        errors, seen = tracked(arm, desired, start, duration)
    assert seen > 0.5
    rms = np.sqrt(np.mean(errors**2))
    print(f'RMS {1e3 * rms:.2f} mrad, by joint {np.round(1e3 * np.std(errors, axis=0), 2)}')
    assert rms < bound


def test_the_gazebo_setup_holds_to_1_mrad_and_tracks_sines_to_10_mrad(tmp_path: Path) -> None:
    made = with_gazebo_control((ROOT / 'urdf/panda.urdf').read_text(encoding='utf-8'), '')
    urdf = tmp_path / 'panda.urdf'
    urdf.write_text(made.description)
    duration = 7.0
    slow, fast = math.tau * np.linspace(0.2, 0.35, 7), math.tau * np.linspace(0.55, 0.8, 7)

    def desired(t: float) -> tuple[Array, Array, Array]:
        fade, fade1, fade2 = _fade(t, duration)
        s = s1 = s2 = np.zeros(7)
        for amplitude, omega in ((0.25, slow), (0.1, fast)):
            s = s + amplitude * np.sin(omega * t)
            s1 = s1 + amplitude * omega * np.cos(omega * t)
            s2 = s2 - amplitude * omega**2 * np.sin(omega * t)
        return READY + fade * s, fade1 * s + fade * s1, fade2 * s + 2.0 * fade1 * s1 + fade * s2

    scene = {'urdf': str(urdf), 'gravity': list(GRAVITY), **LOCKSTEP}
    file = (ROOT / 'config/gazebo.yaml').read_text(encoding='utf-8')
    parameters = yaml.safe_load(file)['/**']['ros__parameters']
    parameters |= {'mode': 'computed_torque', **IN_LOCKSTEP}
    with arm_under_control(tmp_path, READY, scene, **parameters) as (arm, control):
        begin = arm.stamps[-1]
        assert ros_process.wait_until(lambda: arm.stamps[-1] > begin + 2.0)
        drift = np.abs(np.array(arm.positions) - READY).max()
        start = follow(arm, desired, duration)
        assert 'rejected' not in control.output
        errors, seen = tracked(arm, desired, start, duration)
    largest = np.abs(errors).max()
    print(f'drift {1e3 * drift:.3f}, error at most {1e3 * largest:.2f} mrad')
    assert seen > 0.5
    assert drift < 1e-3
    assert largest < 10e-3


def test_in_lockstep_the_node_ramps_down_while_the_arm_falls(tmp_path: Path) -> None:
    parameters = {'mode': 'gravity', **IN_LOCKSTEP}
    with arm_under_control(tmp_path, READY, LOCKSTEP, **parameters) as (arm, control):
        before = arm.stamps[-1]
        assert ros_process.wait_until(lambda: arm.stamps[-1] > before + 0.5)
        control.send(signal.SIGINT)
        assert control.wait() == 0
        assert 'stopped' in control.output
        assert 'before it had stopped' not in control.output
        assert 'velocity_too_high' in control.output  # no friction holds the arm up


def follow(arm: Arm, desired: Callable[[float], Any], duration: float) -> float:
    """
    Send a motion in lockstep, wait until it is over, and return the stamp of its first point, s.

    :param desired: position, velocity and acceleration by time since the start
    :param duration: s
    """
    from lifecycle_msgs.srv import GetState
    from rclpy.duration import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    message = JointTrajectory(joint_names=list(JOINTS))
    for t in np.arange(0.0, duration + 1e-9, 0.05):
        point = JointTrajectoryPoint()
        point.positions, point.velocities, point.accelerations = map(list, desired(t))
        point.time_from_start.sec = int(t)
        point.time_from_start.nanosec = round(1e9 * (t % 1.0))
        message.points.append(point)
    publisher = arm.node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    assert ros_process.wait_until(lambda: publisher.get_subscription_count() > 0)
    arm.process.send(signal.SIGSTOP)  # time stands still until the node has the motion
    # The thread of the node may be seconds of lockstep behind: take what it has not seen yet.
    start = float(arm.all_states()[0][-1]) + 1.0
    message.header.stamp.sec = int(start)
    message.header.stamp.nanosec = int(1e9 * (start % 1.0))
    publisher.publish(message)
    assert publisher.wait_for_all_acked(Duration(seconds=ros_process.PATIENCE))
    client = arm.node.create_client(GetState, 'feedforward/get_state')
    assert ros_process.wait_until(RepeatedRequest(client, GetState.Request()).poll)
    arm.process.send(signal.SIGCONT)
    assert ros_process.wait_until(lambda: arm.stamps[-1] > start + duration, LOCKSTEP_PATIENCE)
    return start


def tracked(
    arm: Arm, desired: Callable[[float], Any], start: float, duration: float
) -> tuple[Array, float]:
    """Return a motion's errors, shape (k, 7), and the share of its tenths of a second seen."""
    stamps, positions = arm.all_states()
    times = stamps - start
    during = (times >= 0.0) & (times <= duration)
    errors = [q - desired(t)[0] for q, t in zip(positions[during], times[during], strict=True)]
    return np.array(errors), np.unique(np.floor(10.0 * times[during])).size / (10.0 * duration)


def _fade(t: float, duration: float) -> tuple[float, float, float]:
    """Return a smooth rise and fall over one second each, with two derivatives."""
    s, sign = (t, 1.0) if t < 0.5 * duration else (duration - t, -1.0)
    s = min(s, 1.0)
    return (
        s**3 * (10.0 - 15.0 * s + 6.0 * s**2), sign * 30.0 * s**2 * (1.0 - s) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )
