# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The hot loop with all around it replaced: what goes wrong there never leaves torque on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import (
    CONTROLLING,
    FeedforwardController,
    JointStateMonitor,
    Reason,
    State,
)
from rnea_ros.feedforward.settings import Settings, resolve
from support.control.control_rig import PANDA_POSE, Array, panda_arm
from support.ros.ros_process import NO_ROS, PATIENCE, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.feedforward.settings import RealtimeSettings
from rnea_ros.node.inputs import Inputs
from rnea_ros.node.loop import ControlLoop
from rnea_ros.ros import PeriodicSchedule
from support.control.random_messages import joint_state
from support.control.virtual_loop import VirtualClock

PERIOD = 0.002


class HaltingClock(VirtualClock):
    """Virtual time: each look at it takes 0.1 ms; ``halted``, it stands still for ever."""

    halted = False

    def now(self) -> float:
        self.sleep(1e-4)
        return super().now()

    latest = stamp = now

    def sleep(self, duration: float) -> None:
        super().sleep(0.0 if self.halted else duration)


class Rig:
    """
    A loop in virtual time, and all around it: joint states, outputs, permission.

    :param options: of the control's settings
    :ivar delay: what a tick waits for its joint states, which are stamped afterwards, s
    """

    permitted, unconfirmed, delay, taken, subscribed = True, False, 0.0, 0, True

    def __init__(self, **options: Any) -> None:
        model, defaults = panda_arm(), {'rate': 1.0 / PERIOD, 'joint_states_timeout': 10.0}
        self.settings = resolve(Settings(joints=model.joint_names, **(defaults | options)), model)
        self.states = JointStateMonitor(model.joint_names)
        self.controller = FeedforwardController(model, self.settings, self.states)
        self.commands: list[Array] = []
        self.clock = clock = HaltingClock(1000.0, lambda _: None)
        self.schedule = PeriodicSchedule(PERIOD, clock.now, clock.sleep)
        around: Any = self
        topics: Any = SimpleNamespace(joint_states=self, wrenches={}, imu=None)
        inputs = Inputs(self.controller, self.states, topics, clock.of_messages)
        self.loop = ControlLoop(
            self.controller, [inputs.read_joint_states], around, around, clock, self.schedule,
            RealtimeSettings(),
        )

    def take_all(self) -> list[bytes]:
        self.clock.sleep(self.delay)
        self.taken += 1
        return [joint_state(self.clock.now(), panda_arm().joint_names, PANDA_POSE, [0.0] * 7)]

    def send_command(self, command: Array) -> None:
        self.commands.append(command.copy())

    def send_extras(self, *_: object) -> None:
        pass

    def check(self) -> bool:
        return self.permitted

    def ends_at_zero(self) -> bool:
        return wait_until(lambda: not self.commands[-1].any())


@contextmanager
def active_rig(**options: Any) -> Iterator[Rig]:
    """Let a loop run once its start ramp is over, and stop it unless it has stopped."""
    rig = Rig(**({'ramp_duration': 0.05, 'hold_duration': 0.05} | options))
    rig.loop.start()
    assert wait_until(lambda: rig.controller.state is State.ACTIVE)
    yield rig
    rig.delay = 0.0
    if rig.controller.state is not State.STOPPED:
        rig.controller.request_stop()
        assert not rig.loop.join(PATIENCE)


def test_a_tick_is_measured_from_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with active_rig() as rig:
        virtual = SimpleNamespace(**(vars(time) | {'perf_counter': rig.clock.now}))
        monkeypatch.setattr('rnea_ros.node.loop.time', virtual)
        rig.delay = 0.005
        for _ in range(2):  # in the first report one tick may have begun on the other clock
            taken = rig.taken
            assert wait_until(lambda taken=taken: rig.taken > taken + 3)  # type: ignore[misc]
            _, longest = rig.loop.statistics.report(rig.clock.now()).compute
        assert longest >= 0.005


def test_a_sample_received_during_a_blocked_tick_is_not_in_the_future() -> None:
    with active_rig() as rig:
        rig.delay, taken = 0.05, rig.taken
        assert wait_until(lambda: rig.taken > taken + 5)
        assert not rig.states.rejections


def fail(*_: Any) -> Any:
    raise RuntimeError('planted')


@pytest.mark.parametrize(('owner', 'method', 'fault', 'ends_thread'), [
    (lambda rig: rig, 'take_all', fail, False),
    (lambda rig: rig, 'send_extras', fail, False),
    (lambda rig: rig, 'check', fail, False),
    (lambda rig: rig.schedule, 'wait', fail, False),
    (lambda rig: rig.clock, 'now', fail, True),
    (lambda rig: rig.loop.statistics, 'record', None, True),
    (lambda rig: rig.schedule, 'wait', sys.exit, True),
], ids=['inputs', 'outputs', 'permission', 'schedule', 'clock', 'statistics', 'exit'])
def test_an_error_around_the_control_ends_in_zero_effort(
    monkeypatch: pytest.MonkeyPatch, owner: Callable[[Rig], object], method: str, fault: Any,
    ends_thread: bool,
) -> None:
    with active_rig() as rig:
        monkeypatch.setattr(owner(rig), method, fault)
        assert wait_until(lambda: rig.controller.state is State.FAULT)
        assert rig.controller.reason is Reason.INTERNAL_ERROR
        assert rig.ends_at_zero()  # sent after the change of state
        changes = np.abs(np.diff([*rig.commands], axis=0))
        assert (changes <= np.array(rig.settings.effort_rate_limit) * PERIOD * (1.0 + 1e-9)).all()
        if ends_thread:
            assert rig.controller.snapshot.error is not None
            sent = len(rig.commands)
            assert wait_until(lambda: len(rig.commands) > sent + 10)  # zeros, while it is active
        else:
            assert str(rig.controller.snapshot.error) == 'planted'


def test_a_poll_notices_a_loop_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging, released, returned = (threading.Event() for _ in range(3))

    def hang() -> list[bytes]:
        hanging.set()
        released.wait()
        returned.set()
        return []

    with active_rig() as rig:
        monkeypatch.setattr(rig.clock, 'simulated', False)  # in which a hang ends by time
        monkeypatch.setattr(rig, 'take_all', hang)
        assert hanging.wait(PATIENCE)  # a poll counts before: a starved loop would seem to hang

        def polled_to_fault() -> bool:
            rig.loop.supervise()
            return rig.controller.state is State.FAULT

        assert wait_until(polled_to_fault)
        assert rig.controller.reason is Reason.INTERNAL_ERROR
        assert rig.ends_at_zero()
        released.set()
        assert returned.wait(PATIENCE)
        assert wait_until(lambda: 'control_loop' not in {t.name for t in threading.enumerate()})
        assert not rig.commands[-1].any()


def test_a_stop_does_not_wait_for_time_that_stands_still_and_ends_in_zeros() -> None:
    with active_rig() as rig:
        rig.clock.halted = True
        rig.controller.request_stop()
        assert rig.loop.join(PATIENCE) == 'simulated time stands still'
        assert rig.controller.state is State.STOPPED
        assert not rig.commands[-1].any()


@pytest.mark.parametrize('returns', [True, False])
def test_a_stop_sends_zeros_to_a_controller_that_has_returned(
    monkeypatch: pytest.MonkeyPatch, returns: bool
) -> None:
    monkeypatch.setattr('rnea_ros.node.loop.CONFIRM_TIMEOUT', PATIENCE)
    with active_rig() as rig:
        rig.permitted, rig.unconfirmed = False, returns
        assert wait_until(lambda: rig.controller.withheld)
        sent = len(rig.commands)
        rig.controller.request_stop()

        def confirm() -> None:
            rig.permitted = returns and rig.controller.state is State.STOPPED

        assert not rig.loop.join(PATIENCE, confirm)
        commands = rig.commands[sent:]
        assert bool(commands) is returns
        assert not np.array(commands[-3:]).any()


def test_an_error_beside_a_stop_does_not_keep_it_from_its_zeros(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    ramping_down, planted = threading.Event(), threading.Event()

    def wait_in_ramp_down(rig: Rig, command: Array) -> None:
        rig.commands.append(command.copy())
        if rig.controller.state not in CONTROLLING:
            ramping_down.set()
            assert planted.wait(PATIENCE)

    with active_rig() as rig:
        monkeypatch.setattr(Rig, 'send_command', wait_in_ramp_down)

        def stop_then_break() -> None:
            if ramping_down.is_set():  # called again: the error is known to the control
                planted.set()
                return
            rig.controller.request_stop()
            assert ramping_down.wait(PATIENCE)
            raise RuntimeError('planted')

        assert not rig.loop.join(PATIENCE, stop_then_break)
        assert str(rig.controller.snapshot.error) == 'planted'
        assert not rig.commands[-1].any()


def test_a_stop_that_takes_too_long_is_ended() -> None:
    with active_rig() as rig:
        slow = replace(rig.settings, ramp_duration=1000.0)
        rig.controller.change(resolve(slow, panda_arm()))
        rig.controller.request_stop()
        assert rig.loop.join(0.1) == 'it did not stop in time'
