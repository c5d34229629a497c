# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The hot loop: newest joint states in, one tick of the control, command out, at a fixed rate.

It runs in a thread of its own and is on no executor. It takes messages straight from its
subscriptions and publishes preallocated ones; it neither logs nor waits for anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import gc
import sys
import threading
import time
from typing import Any

from ..feedforward.controller import FeedforwardController
from ..feedforward.joint_state import JointStateMonitor
from ..feedforward.reasons import Reason
from ..feedforward.supervisor import State
from .clock import Clock
from .direct import DirectSubscription
from .messages import imu_parts, joint_state_arrays, seconds, wrench_parts
from .publishers import Publishers
from .schedule import PeriodicSchedule
from .statistics import LoopStatistics

SWITCH_INTERVAL = 1e-4
"""How long another Python thread may keep the interpreter from the loop, s."""

TERMS_RATE = 100.0
"""How often the efforts' parts are published while somebody listens, Hz."""


class ControlLoop:
    """
    Runs the control in a thread until it has stopped.

    :param controller: the control; it is stepped here only
    :param states: where joint states go
    :param joint_states: where they come from
    :param wrenches: where the readings of force-torque sensors come from, by sensor
    :param imu: where the messages of the IMU on the base come from, None for no IMU
    :param publishers: where commands go
    :param period: s
    :param clock: the time of ages, schedule and stamps
    """

    def __init__(
        self,
        controller: FeedforwardController,
        states: JointStateMonitor,
        joint_states: DirectSubscription[Any],
        wrenches: Mapping[str, DirectSubscription[Any]],
        imu: DirectSubscription[Any] | None,
        publishers: Publishers,
        period: float,
        clock: Clock,
    ) -> None:
        self._controller = controller
        self._states = states
        self._joint_states = joint_states
        self._wrenches = wrenches
        self._imu = imu
        self._publishers = publishers
        self._clock = clock
        self._period = period
        self._schedule = PeriodicSchedule(period, clock.now, clock.sleep)
        self._finished = threading.Event()
        self._quit = False
        self._next_terms = 0.0
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self.statistics = LoopStatistics(period)

    def start(self) -> None:
        """Begin; nothing that the loop needs is compiled or collected later."""
        self._switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL)
        gc.collect()
        gc.freeze()
        gc.disable()
        self._thread.start()

    def finish(self, timeout: float) -> bool:
        """
        Wait until the control has stopped, then end the thread.

        :param timeout: s; after it the thread is ended in any case
        :return: whether the control had stopped in time
        """
        in_time = self._finished.wait(timeout)
        self._quit = True
        self._schedule.cancel()
        self._thread.join()
        sys.setswitchinterval(self._switch_interval)
        gc.enable()
        gc.unfreeze()
        return in_time

    def _run(self) -> None:
        while not self._clock.now() and not self._quit:
            self._clock.sleep(self._period)  # simulated time has not begun
        self._schedule.start()
        while not self._quit and self._controller.state is not State.STOPPED:
            lateness = self._schedule.wait()
            began = time.perf_counter()
            now = self._clock.now()
            self._guard(self._take_joint_states, now)
            if self._wrenches:
                self._guard(self._take_wrenches, now)
            if self._imu is not None:
                self._guard(self._take_imu, now)
            self._guard(self._command, now)
            self.statistics.missed = self._schedule.missed
            self.statistics.record(lateness, time.perf_counter() - began)
        self._finished.set()

    def _guard(self, part: Callable[[float], None], now: float) -> None:
        """Do a part of the tick; what it raises ends the control, and the loop goes on."""
        try:
            part(now)
        except Exception as error:
            self._controller.fail(Reason.INTERNAL_ERROR, now, error)

    def _command(self, now: float) -> None:
        command = self._controller.step(now)
        if command is None:
            return
        publishers, stamp = self._publishers, self._clock.stamp()
        publishers.send_command(command)
        if publishers.named_wanted:
            publishers.send_named(stamp)
        if publishers.terms_wanted and now >= self._next_terms:
            publishers.send_terms(self._controller.terms(), stamp)
            self._next_terms = now + 1.0 / TERMS_RATE

    def _take_joint_states(self, now: float) -> None:
        messages = list(self._joint_states.take_all())
        # A tick that is held up after it began takes samples that are newer than its beginning.
        received = max(now, self._clock.now())
        for message in messages:
            position, velocity, effort = joint_state_arrays(message)
            self._states.update(
                message.name,
                position,
                velocity,
                effort,
                stamp=seconds(message.header.stamp),
                clock=self._clock.stamp(),
                received=received,
            )

    def _take_wrenches(self, now: float) -> None:
        for name, subscription in self._wrenches.items():
            for message in subscription.take_all():
                force, torque = wrench_parts(message)
                self._controller.surroundings.wrenches.update(
                    name,
                    message.header.frame_id,
                    force,
                    torque,
                    stamp=seconds(message.header.stamp),
                    clock=self._clock.stamp(),
                    received=now,
                )

    def _take_imu(self, now: float) -> None:
        assert self._imu is not None
        assert self._controller.surroundings.base is not None
        for message in self._imu.take_all():
            self._controller.surroundings.base.update(
                message.header.frame_id,
                *imu_parts(message),
                stamp=seconds(message.header.stamp),
                clock=self._clock.stamp(),
                received=now,
            )
