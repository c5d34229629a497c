# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot as a process, over real DDS."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
import math
import os
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest

from support.models.robots import SHIPPED, load
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from rnea_ros.ros import RepeatedRequest
from rnea_ros.shared_memory import LOCALHOST_ONLY, RANGE
from rnea_ros.sim import simulated_robot as module

pytestmark = pytest.mark.ros

MODULE = 'rnea_ros.sim.simulated_robot'
PANDA, PANDA_HAND = SHIPPED[1], SHIPPED[0]
JOINTS = [f'fer_joint{number}' for number in range(1, 8)]
POSTURE = [0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7]
GRAVITY_TORQUES = load(PANDA).gravity_torques(POSTURE)


def arguments(*more: str, **values: Any) -> list[str]:
    """Return a command line: the Panda at its posture, not to flood the test's own process."""
    options = {'urdf': PANDA, 'initial_positions': POSTURE, 'state_rate': 200.0} | values
    given = [f'{name.replace("__", ".")}:={value}' for name, value in options.items()]
    return ['--ros-args', *(part for text in given for part in ('-p', text)), *more]


class Client:
    """
    What a controller sees of a simulated robot.

    :param process: the robot's
    :param node: the test's own
    """

    def __init__(self, process: RosProcess, node: Any) -> None:
        self.process = process
        self.node = node
        self.states: list[Any] = []
        self._sent: list[float] = []
        node.create_subscription(JointState, 'joint_states', self._on_state, 10)
        topic = 'effort_controller/commands'
        self._commands = node.create_publisher(Float64MultiArray, topic, 1)

    def _on_state(self, message: Any, info: Any) -> None:
        self._sent.append(1e-9 * info['source_timestamp'])
        self.states.append(message)

    @property
    def state(self) -> Any:
        """The next state that is published."""
        known = len(self.states)
        assert wait_until(lambda: len(self.states) > known), self.process.output
        return self.states[-1]

    def command(self, efforts: Iterable[float]) -> None:
        assert wait_until(lambda: self._commands.get_subscription_count() == 1)
        self._commands.publish(Float64MultiArray(data=[float(effort) for effort in efforts]))

    def answer_until_efforts_are(self, efforts: Iterable[float]) -> None:
        """Command a robot in lockstep, which shows an effort in the state after the next only."""

        def shown() -> bool:
            self.command(efforts)
            return bool(self.states) and list(self.states[-1].effort) == list(efforts)

        def repeated() -> bool:
            sent = zip(self.states, self._sent, strict=False)
            stamps = [stamp(state) for state, at in sent if at > commanded]
            return len(stamps) > len(set(stamps))

        assert wait_until(shown), self.process.output
        commanded = time.time()
        # Commands in excess are answered with states too; then the last state is repeated.
        assert wait_until(repeated)

    def wait_for_newer(self, stamp_before: float) -> None:
        assert wait_until(lambda: stamp(self.states[-1]) > stamp_before), self.process.output

    def collect(self, message: Any, topic: str, qos: Any = 10) -> list[Any]:
        """Return the list to which a topic's messages are added."""
        received: list[Any] = []
        self.node.create_subscription(message, topic, received.append, qos)
        assert wait_until(lambda: received), self.process.output
        return received

    def parameter(self, node: str, name: str) -> Any:
        client = self.node.create_client(GetParameters, f'{node}/get_parameters')
        repeated = RepeatedRequest(client, GetParameters.Request(names=[name]))
        assert wait_until(repeated.poll)
        return repeated.response.values[0]


@contextmanager
def simulated_robot(*more: str, **values: Any) -> Iterator[Client]:
    domain_id = new_domain_id()
    with (
        ros_node(domain_id) as node,
        RosProcess(MODULE, *arguments(*more, **values), domain_id=domain_id) as process,
    ):
        yield Client(process, node)


@pytest.fixture(scope='module')
def resting() -> Iterator[Client]:
    """Give a robot without commands."""
    tool = {'payload__link': 'fer_link8', 'payload__mass': 2.0, 'wrench_link': 'fer_link8'}
    with simulated_robot(**tool) as client:
        yield client


def stamp(message: Any) -> float:
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


def test_states_are_stamped_with_the_time_and_come_at_their_rate(resting: Client) -> None:
    first = len(resting.states)
    assert wait_until(lambda: len(resting.states) >= first + 200)
    stamps = [stamp(message) for message in resting.states[first:]]
    assert stamps[-1] == pytest.approx(time.time(), abs=5.0)
    # A busy computer delays some states, and none comes sooner than the rate says.
    assert np.diff(stamps).min() == pytest.approx(0.005, abs=1e-6)


def test_after_a_stall_no_joint_has_moved_faster_by_its_stamps_than_it_did() -> None:
    # Gravity lets the arm fall; a stall must not look like a jump.
    with simulated_robot(state_rate=500.0) as client:
        received = client.collect(JointState, 'joint_states', 1000)
        client.command(np.zeros(7))
        assert wait_until(lambda: np.abs(received[-1].velocity).max() > 0.2)
        first = len(received) - 1
        for _ in range(5):
            client.process.send(signal.SIGSTOP)
            time.sleep(0.05)
            client.process.send(signal.SIGCONT)
            time.sleep(0.02)
        resumed = time.time()
        assert wait_until(lambda: stamp(received[-1]) > resumed)
        states = received[first:]
    intervals = np.diff([stamp(state) for state in states])
    assert intervals.max() > 0.04
    ways = np.abs(np.diff([state.position for state in states], axis=0))
    speeds = np.abs([state.velocity for state in states]).max(axis=0)
    # Twice: a joint may be fastest while no state is published.
    assert (ways <= 2.0 * speeds * intervals[:, np.newaxis] + 1e-4).all()


def test_joint_states_have_the_quality_of_the_joint_state_broadcaster(resting: Client) -> None:
    assert resting.state
    (publisher,) = resting.node.get_publishers_info_by_topic('/joint_states')
    assert publisher.qos_profile.reliability is ReliabilityPolicy.RELIABLE
    assert publisher.qos_profile.durability is DurabilityPolicy.VOLATILE


def test_the_description_reaches_late_subscribers(resting: Client) -> None:
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    (description,) = resting.collect(String, 'robot_description', latched)
    assert description.data == PANDA.read_text()


def test_the_controller_has_its_joints_as_a_parameter(resting: Client) -> None:
    joints = resting.parameter('/effort_controller', 'joints')
    assert joints.string_array_value == JOINTS


def test_the_sensor_reads_the_weight_that_hangs_on_it(resting: Client) -> None:
    reading = resting.collect(WrenchStamped, 'force_torque_sensor_broadcaster/wrench')[-1]
    force = reading.wrench.force
    assert reading.header.frame_id == 'fer_link8'
    assert math.hypot(force.x, force.y, force.z) == pytest.approx(2.0 * 9.81)


def test_commanded_gravity_torques_hold_the_robot_once_brakes_open() -> None:
    scale = [2.1, -2.1, 1.5, 1.0, 0.5, 0.5, -0.5]  # of motors that take currents
    with simulated_robot(effort_scale=scale) as client:
        carried = client.state.effort
        np.testing.assert_allclose(
            np.multiply(carried, scale), GRAVITY_TORQUES, rtol=1e-9, atol=1e-9
        )
        client.command(carried)
        time.sleep(0.5)
        np.testing.assert_allclose(client.state.position, POSTURE, atol=1e-6)
        client.command(np.zeros(7))
        assert wait_until(lambda: np.abs(client.state.velocity).max() > 0.1)


def test_commands_are_in_the_order_of_the_controllers_joints() -> None:
    backward = JOINTS[::-1]
    options = {'urdf': PANDA_HAND, 'joints': backward, 'initial_positions': POSTURE[::-1]}
    with simulated_robot(**options) as client:
        assert client.parameter('/effort_controller', 'joints').string_array_value == backward
        # Near what carries the arm, which then moves slowly.
        efforts = np.add(client.state.effort[:7], 0.01 * np.arange(7.0))
        client.command(efforts)
        assert wait_until(lambda: client.state.effort[:7].tolist() == efforts.tolist())
        state = client.state
        assert state.name[:7] == backward
        assert state.name[7:] == ['fer_finger_joint1', 'fer_finger_joint2']
        assert np.isnan(state.effort[7:]).all()


def test_simulated_time_keeps_up_with_the_wall_clock() -> None:
    with simulated_robot(publish_clock=True) as client:
        clocks: list[tuple[float, float]] = []

        def take(message: Any, info: Any) -> None:
            now = float(message.clock.sec + 1e-9 * message.clock.nanosec)
            clocks.append((1e-9 * info['source_timestamp'], now))

        client.node.create_subscription(Clock, '/clock', take, 1000)
        assert wait_until(lambda: clocks and clocks[-1][0] > clocks[0][0] + 2.0)
        sent, times = np.array(clocks).T
        assert (np.diff(times) >= 0.0).all()
        # After a stall it catches up with no more than 0.1 s.
        kept_up_with = np.minimum(np.diff(sent), 0.1).sum()
        assert kept_up_with - 0.3 < times[-1] - times[0] < sent[-1] - sent[0] + 0.3
        stamps = {stamp(client.state) for _ in range(10)}  # the clock's messages may queue behind
        assert wait_until(lambda: stamps & {now for _, now in clocks[-1000:]})


def test_in_lockstep_time_waits_for_the_command_that_answers_each_state() -> None:
    with simulated_robot(publish_clock=True, lockstep=True) as client:
        assert client.state  # before the first command it does not wait
        client.answer_until_efforts_are(GRAVITY_TORQUES)
        for number in range(20):
            before = stamp(client.states[-1])
            time.sleep(0.5 if number < 1 else 0.0)  # in which a state is repeated
            assert stamp(client.states[-1]) == before
            client.command((1.0 + 0.01 * number) * GRAVITY_TORQUES)
            client.wait_for_newer(before)
            after = client.states[-1]
            assert stamp(after) - before == pytest.approx(0.005, abs=1e-6)
            np.testing.assert_allclose(after.effort, (1.0 + 0.01 * number) * GRAVITY_TORQUES)


def test_in_lockstep_time_goes_on_if_commands_stop() -> None:
    with simulated_robot(publish_clock=True, lockstep=True) as client:
        client.answer_until_efforts_are(GRAVITY_TORQUES)
        first = client.states[-1]
        assert wait_until(lambda: stamp(client.states[-1]) > stamp(first) + 1.0)
        client.process.wait_for('no command within 5 s')


def test_names_follow_the_namespace_and_the_option() -> None:
    renamed = ('-r', '__ns:=/left', '-r', '__node:=arm')
    with simulated_robot(*renamed, controller='torque_controller') as client:
        states = client.collect(JointState, '/left/joint_states')
        assert states[-1].name == JOINTS
        assert client.parameter('/left/torque_controller', 'joints').string_array_value == JOINTS
        nodes = {('arm', '/left'), ('torque_controller', '/left')}
        known = client.node.get_node_names_and_namespaces
        assert wait_until(lambda: nodes <= set(known())), known()


def test_a_push_begins_after_the_first_command() -> None:
    push = {'push__link': 'fer_link7', 'push__force': [0.0, 5.0, 0.0], 'push__start': 0.1}
    with simulated_robot(**push) as client:
        assert max(client.state.velocity) == 0.0
        client.command(GRAVITY_TORQUES)
        assert wait_until(lambda: np.abs(client.state.velocity).max() > 0.01)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with simulated_robot() as client:
        assert client.state
        client.process.send(number)
        assert client.process.wait() == 0
        assert 'Traceback' not in client.process.output


def test_it_keeps_itself_off_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (RANGE, LOCALHOST_ONLY, 'ROS_DISTRO'):
        monkeypatch.setenv(name, '')
        monkeypatch.delenv(name)
    monkeypatch.setattr(module, 'NodeProcess', lambda *_: sys.exit(os.environ[RANGE]))
    with pytest.raises(SystemExit, match=r'^LOCALHOST$'):
        module.main([])
