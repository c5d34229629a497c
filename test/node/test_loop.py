# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The hot loop with all around it replaced: what goes wrong there never leaves torque on."""

from __future__ import annotations

from array import array
from collections.abc import Callable
import math
from pathlib import Path
import sys
import threading
import time
from typing import Any, cast

import numpy as np
import pytest

import rnea_ros
from rnea_ros.feedforward import CONTROLLING, FeedforwardController, Reason, State
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.settings import Settings, resolve
from support.ros.ros_process import NO_ROS, PATIENCE, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from rnea_ros.node.inputs import SensorTopics
from rnea_ros.node.loop import ControlLoop
from rnea_ros.node.timing import RealtimeSettings
from rnea_ros.ros import MachineClock, PeriodicSchedule

URDF = Path(__file__).resolve().parents[2] / 'urdf/panda_arm.urdf'
MODEL = rnea_ros.RobotModel.from_urdf(URDF)
PERIOD = 0.002


class JointStates:
    """
    Joint states that never end.

    They have a stamp when ``stamped``, and ``delay`` is what a tick waits for them, s.
    """

    stamped = False
    delay = 0.0
    taken = 0

    def take_all(self) -> list[bytes]:
        time.sleep(self.delay)
        self.taken += 1
        message = JointState(
            name=list(MODEL.joint_names),
            position=array('d', [0.1, -0.4, 0.2, -1.9, 0.3, 1.7, 0.5]),
            velocity=array('d', [0.0] * 7),
        )
        if self.stamped:
            seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
            message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
        return [serialize_message(message)]


class Outputs:
    """Collects commands."""

    def __init__(self) -> None:
        self.commands: list[np.ndarray] = []

    def send_command(self, command: np.ndarray) -> None:
        self.commands.append(command.copy())

    def send_extras(self, *_: object) -> None:
        pass


class HaltingClock(MachineClock):
    """
    Time that stands still from :meth:`halt` on, as a simulation's that was ended.

    ``ahead`` is how far it is ahead of the machine's, s.
    """

    ahead = 0.0
    _end = math.inf

    def halt(self) -> None:
        self.simulated = True  # type: ignore[misc]
        self._end = time.monotonic()

    def now(self) -> float:
        return min(super().now() + self.ahead, self._end)

    latest = now


class Permission:
    """Permits what the test permits."""

    permitted = True
    unconfirmed = False

    def check(self) -> bool:
        return self.permitted


class Rig:
    """
    A loop that runs.

    :param options: of the control's settings
    """

    def __init__(self, **options: Any) -> None:
        self.permission = Permission()
        self.settings = resolve(
            Settings(**{
                'joints': MODEL.joint_names, 'rate': 1.0 / PERIOD, 'joint_states_timeout': 10.0,
                **options,
            }),
            MODEL,
        )
        self.states = JointStateMonitor(MODEL.joint_names)
        self.controller = FeedforwardController(MODEL, self.settings, self.states)
        self.joint_states = JointStates()
        self.outputs = Outputs()
        self.clock = clock = HaltingClock()
        self.schedule = PeriodicSchedule(PERIOD, clock.now, clock.sleep)
        environment = self.controller.environment
        topic = cast(Any, self.joint_states)
        inputs = SensorTopics(self.states, environment, topic, {}, None, clock)
        self.loop = ControlLoop(
            self.controller, [inputs.take_joint_states], cast(Any, self.outputs),
            cast(Any, self.permission), PERIOD, clock, self.schedule, RealtimeSettings(),
        )

    def __enter__(self) -> Rig:
        self.loop.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.controller.state is State.STOPPED:
            return
        self.controller.request_stop()
        self.joint_states.delay = 0.0
        assert not self.loop.join(10.0)


def test_the_duration_of_a_tick_is_measured_from_its_start() -> None:
    rig = Rig()
    rig.joint_states.delay = 0.005
    with rig:
        assert wait_until(lambda: len(rig.outputs.commands) > 3)
        _, longest = rig.loop.statistics.report(rig.clock.now()).compute
        assert longest >= 0.005


def test_a_sample_received_during_a_blocked_tick_is_not_in_the_future() -> None:
    with Rig() as rig:
        rig.joint_states.stamped = True
        assert wait_until(lambda: rig.controller.state in CONTROLLING)
        rig.joint_states.delay = 0.05
        taken = rig.joint_states.taken
        assert wait_until(lambda: rig.joint_states.taken > taken + 5)
        assert not rig.states.rejections


def fail(*_: Any) -> Any:
    raise RuntimeError('planted')


@pytest.mark.parametrize(('owner', 'method', 'fault', 'supervised'), [
    (lambda rig: rig.joint_states, 'take_all', fail, False),
    (lambda rig: rig.outputs, 'send_extras', fail, False),
    (lambda rig: rig.permission, 'check', fail, False),
    (lambda rig: rig.schedule, 'wait', fail, False),
    (lambda rig: rig.clock, 'now', fail, True),
    (lambda rig: rig.loop.statistics, 'record', None, True),
    (lambda rig: rig.schedule, 'wait', sys.exit, True),
], ids=['inputs', 'outputs', 'permission', 'schedule', 'clock', 'statistics', 'exit'])
def test_an_error_around_the_control_ends_in_zero_effort(
    monkeypatch: pytest.MonkeyPatch, owner: Callable[[Rig], object], method: str, fault: Any,
    supervised: bool,
) -> None:
    with Rig(ramp_duration=0.05, hold_duration=0.05) as rig:
        assert wait_until(lambda: rig.controller.state is State.ACTIVE)
        commands = rig.outputs.commands
        monkeypatch.setattr(owner(rig), method, fault)
        assert wait_until(lambda: rig.controller.state is State.FAULT)
        assert rig.controller.reason is Reason.INTERNAL_ERROR
        assert wait_until(lambda: not commands[-1].any())  # sent after the change of state
        changes = np.abs(np.diff(commands, axis=0))
        assert (changes <= rig.settings.effort_rate_limit * PERIOD * (1.0 + 1e-9)).all()
        if supervised:
            assert rig.controller.error is not None
            sent = len(commands)
            assert wait_until(lambda: len(commands) > sent + 10)  # zeros, while it is active
        else:
            assert isinstance(rig.controller.error, RuntimeError)


def test_the_supervisor_ramps_down_a_loop_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    released, returned = threading.Event(), threading.Event()

    def hang() -> list[bytes]:
        released.wait()
        returned.set()
        return []

    with Rig(ramp_duration=0.05, hold_duration=0.05) as rig:
        assert wait_until(lambda: rig.controller.state is State.ACTIVE)
        monkeypatch.setattr(rig.joint_states, 'take_all', hang)
        assert wait_until(lambda: rig.controller.state is State.FAULT)
        assert rig.controller.reason is Reason.INTERNAL_ERROR
        assert wait_until(lambda: not rig.outputs.commands[-1].any())
        released.set()
        assert returned.wait(PATIENCE)
        assert wait_until(lambda: 'control_loop' not in {t.name for t in threading.enumerate()})
        assert not rig.outputs.commands[-1].any()


def test_a_stop_does_not_wait_for_time_that_stands_still_and_ends_in_zeros() -> None:
    rig = Rig(ramp_duration=0.05, hold_duration=0.05)
    rig.loop.start()
    assert wait_until(lambda: rig.controller.state is State.ACTIVE)
    rig.clock.halt()
    rig.controller.request_stop()
    assert rig.loop.join(60.0) == 'simulated time stands still'
    assert rig.controller.state is State.STOPPED
    assert not rig.outputs.commands[-1].any()


@pytest.mark.parametrize('returns', [True, False])
def test_a_stop_sends_zeros_to_a_controller_that_has_returned(returns: bool) -> None:
    with Rig(ramp_duration=0.05) as rig:
        assert wait_until(lambda: rig.controller.state is State.ACTIVE)
        rig.permission.permitted, rig.permission.unconfirmed = False, returns
        assert wait_until(lambda: rig.controller.withheld)
        sent = len(rig.outputs.commands)
        rig.controller.request_stop()

        def confirm() -> None:
            if rig.controller.state is State.STOPPED:
                rig.permission.permitted = True

        assert not rig.loop.join(10.0, confirm)
        commands = rig.outputs.commands[sent:]
        assert bool(commands) is returns
        assert not np.array(commands[-3:]).any()


def test_an_error_beside_a_stop_does_not_keep_it_from_its_zeros() -> None:
    with Rig(ramp_duration=0.3) as rig:
        assert wait_until(lambda: rig.controller.state is State.ACTIVE)

        def stop_and_break() -> None:
            rig.controller.request_stop()
            assert wait_until(lambda: rig.controller.state not in CONTROLLING)
            raise RuntimeError('unlookable')

        assert not rig.loop.join(10.0, stop_and_break)
        assert isinstance(rig.controller.error, RuntimeError)
        assert not rig.outputs.commands[-1].any()


def test_a_stop_that_takes_too_long_is_ended() -> None:
    rig = Rig(hold_duration=60.0, effort_rate_limit=(1.0,))
    rig.loop.start()
    assert wait_until(lambda: rig.controller.state in CONTROLLING)
    rig.controller.request_stop()
    assert rig.loop.join(0.1) == 'it did not stop in time'
