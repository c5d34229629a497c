# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What happens to processes, robot and command topic under chaos, at random times."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from std_msgs.msg import Float64, Float64MultiArray

from support.chaos.messages import stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.ros.ros_process import RosProcess

PAUSE = 0.15
"""Mean time between two events, s."""

STALL_PAUSE = 1.5
"""Least time between two stalls, s: more than ten within ten seconds end the control."""

LEAVE_PAUSE = 2.0
"""Least time between two absences of the controller, s; each lasts up to 1 s."""

IGNORED = (signal.SIGUSR1, signal.SIGALRM)
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

PUSHED = ('forearm_link', 'wrist_1_link')
LISTENERS = 3


class Events:
    """
    Makes events in a thread, while it is allowed to, from :meth:`start` to :meth:`end`.

    :param node: publishes and listens; spun elsewhere
    :param processes: that may stand still, by name
    :param seed: of everything
    """

    def __init__(self, node: Any, processes: dict[str, RosProcess], seed: int) -> None:
        self.made: Counter[str] = Counter()
        self.stalling = False
        self.left_at = 0.0
        """When the controller was last made to leave, monotonic time, s."""

        self.failure: BaseException | None = None
        self._node = node
        # File descriptors: a number of a process that has just ended could be another's.
        self._processes = {name: os.pidfd_open(each.pid) for name, each in processes.items()}
        self._rng = np.random.default_rng(seed)
        self._push = node.create_publisher(WrenchStamped, 'push', 10)
        self._leave = node.create_publisher(Float64, 'leave', 10)
        self._listeners: list[Any] = []
        self._stalled_at = 0.0
        self._ended, self._allowed = threading.Event(), threading.Lock()
        self._allowed.acquire()
        self._thread = threading.Thread(target=self._run, name='events', daemon=True)

    def start(self) -> None:
        """Begin; events happen once they are allowed to."""
        self._thread.start()

    @contextmanager
    def happening(self, control: RosProcess) -> Iterator[None]:
        """Let events happen to a node and all else; no process stands still afterwards."""
        self._processes['node'] = os.pidfd_open(control.pid)
        self._allowed.release()
        try:
            yield
        finally:
            self._allowed.acquire()
            os.close(self._processes.pop('node'))

    @property
    def unmade(self) -> set[str]:
        """What has never happened, of all kinds."""
        stalls = {f'stall: {name}' for name in ('node', 'robot', 'watchdog')}
        kinds = {'push', 'leave', 'listener', *stalls, *(each.name for each in IGNORED)}
        return kinds - set(self.made)

    def end(self) -> None:
        """Cease."""
        self._ended.set()
        self._thread.join()
        for process in self._processes.values():
            os.close(process)

    def _run(self) -> None:
        kinds = (self._stall, self._send_ignored, self._push_link, self._leave_for, self._listen)
        try:
            while not self._ended.wait(self._rng.exponential(PAUSE)):
                if self._allowed.acquire(timeout=PAUSE):
                    try:
                        kinds[self._rng.integers(len(kinds))]()
                    finally:
                        self._allowed.release()
        except Exception as error:  # the test's own thread fails over it
            self.failure = error

    def _send(self, name: str, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # it has just ended
            signal.pidfd_send_signal(self._processes[name], number)

    def _stall(self) -> None:
        if not self.stalling or time.monotonic() < self._stalled_at + STALL_PAUSE:
            return
        name = str(self._rng.choice(sorted(self._processes)))
        self._send(name, signal.SIGSTOP)
        time.sleep(self._rng.uniform(0.05, 0.5))
        self._send(name, signal.SIGCONT)
        self._stalled_at = time.monotonic()
        self.made[f'stall: {name}'] += 1

    def _send_ignored(self) -> None:
        number = IGNORED[self._rng.integers(len(IGNORED))]
        self._send('node', number)
        self.made[number.name] += 1

    def _push_link(self) -> None:
        message = WrenchStamped()
        message.header.frame_id = str(self._rng.choice(PUSHED))
        message.header.stamp = stamp(float(self._rng.uniform(0.1, 0.25)))
        way = self._rng.standard_normal(3)
        force = message.wrench.force
        force.x, force.y, force.z = (self._rng.uniform(40.0, 80.0) * way / np.sqrt(way @ way))
        self._push.publish(message)
        self.made['push'] += 1

    def _leave_for(self) -> None:
        if time.monotonic() < self.left_at + LEAVE_PAUSE:
            return
        self.left_at = time.monotonic()
        self._leave.publish(Float64(data=float(self._rng.uniform(0.1, 1.0))))
        self.made['leave'] += 1

    def _listen(self) -> None:
        """Begin to listen to the commands, or cease to; in the thread that spins the node."""
        def change() -> None:
            if len(self._listeners) == LISTENERS:
                self._node.destroy_subscription(self._listeners.pop(0))
            self._listeners.append(self._node.create_subscription(
                Float64MultiArray, '/effort_controller/commands', lambda _: None, 10
            ))

        self._node.executor.create_task(change)
        self.made['listener'] += 1
