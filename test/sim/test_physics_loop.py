# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The loop of the simulated robot, cycle by cycle, without topics; the pace of its time."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.models.robots import SHIPPED, load
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.parameters import from_values
from rnea_ros.sim import pace, simulated_robot
from rnea_ros.sim.effort_controller import EffortController
from rnea_ros.sim.options import PARAMETERS, TIMESTEP, Options
from rnea_ros.sim.pace import ANSWER_TIMEOUT, PUBLICATIONS, Lockstep, RealTime
from rnea_ros.sim.simulated_robot import Broadcasters, PhysicsLoop

PANDA_HAND, PANDA = SHIPPED[0], SHIPPED[1]
JOINTS = [f'fer_joint{number}' for number in range(1, 8)]
POSTURE = [0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7]
GRAVITY_TORQUES = load(PANDA).gravity_torques(POSTURE)
EPOCH = 1000.0
"""Wall time of the start, s."""


def stamp(time: Any) -> float:
    return float(time.sec + 1e-9 * time.nanosec)


class Simulation:
    """A robot in a loop whose pace follows a script: efforts by number of cycle and of state."""

    def __init__(self, *, commands: Any = None, answers: Any = None, **options: Any) -> None:
        self._commands, self._answers = commands or {}, answers or {}
        self.messages: dict[str, list[Any]] = {}
        self.errors: list[str] = []
        values = {key: None if each.unset else each.default for key, each in PARAMETERS.items()}
        values |= {'urdf': str(PANDA), 'initial_positions': POSTURE, 'state_rate': 200.0}
        given = from_values(Options, values | {k.replace('__', '.'): options[k] for k in options})
        self.robot = given.make_robot()
        self.broadcasters = Broadcasters(self, self.robot, given)
        controller = EffortController(self.robot.limits, pytest.fail, self.errors.append)
        script: Any = self
        self.loop = PhysicsLoop(self.robot, controller, self.broadcasters, script, given)

    def create_publisher(self, _: Any, topic: str, __: Any) -> Any:
        sent = self.messages.setdefault(topic, [])
        return SimpleNamespace(publish=lambda message: sent.append(deepcopy(message)))

    def run(self, steps: Iterable[int]) -> list[Any]:
        """Run cycles of so many steps each; return the joint states."""
        self._script, self._cycle, self._state = iter(steps), -1, -1
        self.loop._loop()
        return self.messages['joint_states']

    def start(self) -> None:
        """Start the pace."""

    def steps(self) -> int:
        self._cycle += 1
        steps = next(self._script, None)
        if steps is None:
            self.loop.stop()
        return steps or 0

    def command(self) -> Any:
        efforts = self._commands.get(self._cycle)
        return None if efforts is None else SimpleNamespace(data=efforts)

    def exchange(self, publish_state: Callable[[], None]) -> Any:
        self._state += 1
        publish_state()
        efforts = self._answers.get(self._state)
        return None if efforts is None else SimpleNamespace(data=efforts)


@pytest.mark.parametrize('simulated', [False, True])
def test_a_stamp_is_the_time_of_the_state(
    monkeypatch: pytest.MonkeyPatch, simulated: bool
) -> None:
    monkeypatch.setattr(simulated_robot, 'time', SimpleNamespace(time_ns=lambda: int(1e9 * EPOCH)))
    simulation = Simulation(commands={0: np.zeros(7)}, publish_clock=simulated)
    states = simulation.run([*[1] * 300, 60, 1, 1, 1, 1, 1])
    simulation.broadcasters.lose(0.25)
    simulation.broadcasters.publish(simulation.robot.state())
    stamps = np.array([stamp(state.header.stamp) for state in states])
    assert stamps[0] == pytest.approx(0.0 if simulated else EPOCH + 0.001, abs=1e-6)
    lost = 0.0 if simulated else 0.25
    np.testing.assert_allclose(np.diff(stamps)[:60], 0.005, atol=1e-6)
    np.testing.assert_allclose(np.diff(stamps)[60:], [0.06, 0.005, lost], atol=1e-6)
    clocks = [stamp(message.clock) for message in simulation.messages.get('/clock', [])]
    assert len(clocks) == (308 if simulated else 0)
    assert np.isin(stamps, clocks).all() == simulated


def test_commands_and_efforts_have_the_order_and_the_unit_of_the_motors() -> None:
    scale = np.array([2.1, -2.1, 1.5, 1.0, 0.5, 0.5, -0.5])
    carried = GRAVITY_TORQUES[::-1] / scale
    simulation = Simulation(
        urdf=str(PANDA_HAND), joints=JOINTS[::-1], initial_positions=POSTURE[::-1],
        effort_scale=scale.tolist(), commands={6: carried + 0.1},
    )
    states = simulation.run([1] * 16)
    assert states[0].name == [*JOINTS[::-1], 'fer_finger_joint1', 'fer_finger_joint2']
    # The hand's weight moves the efforts by no more than some N m.
    assert np.abs(np.subtract(states[0].effort[:7], carried)).max() < 0.73 * 9.81
    assert np.isnan(states[0].effort[7:]).all()
    np.testing.assert_allclose(states[-1].effort[:7], carried + 0.1, rtol=1e-12)
    efforts = simulation.robot.state().efforts[:7]
    np.testing.assert_allclose(efforts, scale * (carried + 0.1), rtol=1e-12)


def test_a_command_acts_in_its_cycle_and_an_answer_in_that_of_its_state() -> None:
    efforts = 1.01 * GRAVITY_TORQUES
    for simulation in (Simulation(commands={7: efforts}), Simulation(answers={1: efforts})):
        states = simulation.run([1] * 16)
        assert [bool(np.any(state.velocity)) for state in states] == [False, False, True, True]
        np.testing.assert_allclose(states[-1].effort, efforts)
    assert not np.any(Simulation(answers={1: efforts}).run([1] * 7)[-1].velocity)
    simulation = Simulation(commands={1: np.ones(6)})
    simulation.run([1] * 3)
    assert '6 efforts, not 7' in simulation.errors[0]


def test_pushes_and_wrenches_are_those_of_the_options() -> None:
    simulation = Simulation(
        commands={0: GRAVITY_TORQUES}, wrench_link='fer_link8', payload__link='fer_link8',
        payload__mass=1e-9, push__link='fer_link7', push__force=[0.0, 5.0, 0.0], push__start=0.01,
    )
    states = simulation.run([1] * 26)
    moved = [float(np.abs(state.velocity).max()) for state in states]
    assert max(moved[:3]) < 1e-9 < 1e-3 < moved[4]
    readings = simulation.messages['force_torque_sensor_broadcaster/wrench']
    assert [reading.header.stamp for reading in readings] == [s.header.stamp for s in states]
    assert {reading.header.frame_id for reading in readings} == {'fer_link8'}


class Paced:
    """A pace, with a schedule that misses steps, and commands, None for a wait in vain."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: Any, **options: Any) -> None:
        self.missed = self.waits = self.starts = 0
        self.due = 1
        self.waiting: list[Any] = []
        self.waited = 0.0
        self.lost: list[float] = []
        self.warnings: list[str] = []
        self.published = 0
        monkeypatch.setattr(pace, 'PeriodicSchedule', lambda _: SimpleNamespace(
            start=self._start, wait=self._wait_for_schedule, missed=0
        ))
        self.publishers = 1
        warn = (self.warnings.append, lambda: self.publishers) if kind is Lockstep else ()
        self.pace = kind(self, TIMESTEP, self.lost.append, *warn, **options)
        self._schedule = self.pace._schedule

    def _start(self) -> None:
        self.starts += 1

    def _wait_for_schedule(self) -> None:
        self.waits += 1
        self._schedule.missed += self.due - 1

    def take(self) -> Any:
        return self.waiting.pop(0) if self.waiting else None

    def wait(self, timeout: float) -> None:
        self.waited += timeout

    def exchange(self) -> Any:
        """Return the answer to a state, and how often it was published."""
        self.published = 0

        def publish() -> None:
            self.published += 1

        return self.pace.exchange(publish), self.published


def test_in_real_time_missed_steps_are_made_up_but_not_more_than_0_1_s(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    paced, steps = Paced(monkeypatch, RealTime), []
    paced.pace.start()
    for paced.due in (1, 40, 100, 101, 350):
        steps.append(paced.pace.steps())
    assert steps == [1, 40, 100, 100, 100]
    np.testing.assert_allclose(paced.lost, [0.0, 0.0, 0.0, 0.001, 0.25])
    paced.waiting = ['command']
    assert paced.exchange() == (None, 1)
    assert (paced.pace.command(), paced.pace.command()) == ('command', None)


@pytest.mark.parametrize('watched', [False, True])
def test_in_lockstep_time_waits_for_the_command_that_answers_each_state(
    monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    paced = Paced(monkeypatch, Lockstep, watched=watched)
    steps, command = paced.pace.steps, paced.pace.command
    paced.due = 3
    assert (steps(), paced.exchange()) == (3, (None, 1))  # no command yet
    paced.waiting = ['first']
    assert command() == 'first'
    assert (steps(), paced.waits) == (1, 2 if watched else 1)
    paced.waiting = [None, None, 'answer']  # states or commands may be lost
    assert paced.exchange() == ('answer', 3)
    assert (command(), steps()) == (None, 1)  # still in lockstep

    paced.waited = 0.0
    assert paced.exchange() == (None, PUBLICATIONS)
    assert paced.waited == pytest.approx(ANSWER_TIMEOUT)
    assert (len(paced.warnings), paced.starts) == (1, 1)
    assert (steps(), paced.exchange()) == (3, (None, 1))  # as before the first
    paced.waiting, paced.publishers = ['another'], 0
    assert (command(), paced.exchange()) == ('another', (None, PUBLICATIONS))
    assert (len(paced.warnings), paced.starts) == (1, 2)  # the control has ended

    paced.waiting, paced.pace.ended = ['last'], True
    assert (command(), paced.exchange()) == ('last', (None, 1))  # its process ends
