# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm under the control of the node, in separate processes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import json
import math
from pathlib import Path
import signal
import subprocess
import sys
from typing import IO, TypeAlias

import numpy as np

from ...arrays import Array, shortest
from ...command_line import Progress
from ...feedforward.motion import TrajectoryReason
from ...files import write_file
from ...identification.excitation import RestToRestMotion
from ...live import live_node
from .arm import DemoArm, DemoError, DemoRun
from .client import DemoClient, Received, positions
from .robot import DemoRobot

WAY, WAY_SPEED = 3.0, 0.25  # to a pose: least duration, s; mean velocity, as a share of the limit

Gains: TypeAlias = tuple[Array, Array]

BLEND = 0.5  # duration of the blending of control laws, s
LEAD = 0.3  # from sending a motion to the request of a law, s; time for its answer, at first
START_TRIALS = 5  # of a motion, at most
GUIDE_REST = 1.5  # the hand holds the arm before and after it guides it, s
ARRIVAL_CHECKS = 30  # of a pose, at most
CATCH = 0.5  # from further away an arm does not return to a pose, but is caught, rad or m
TIMEOUT = 120.0  # of every wait, s; the first start compiles kernels, for up to 30 s


class Processes:
    """Nodes in separate processes, with parameter files and logs in a directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._running: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []

    def start(self, name: str, module: str, parameters: dict[str, object], *files: Path) -> None:
        """Start a module as a named node, with ROS parameters and further parameter files."""
        values = self._directory / f'{name}.yaml'
        write_file(values, json.dumps({'/**': {'ros__parameters': parameters}}))
        output = (self._directory / f'{name}.log').open('wb')
        command = [sys.executable, '-m', module, '--ros-args']
        for file in (values, *files):
            command += ['--params-file', str(file)]
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._running.append((name, process, output))

    def check(self) -> None:
        """Raise a DemoError if a process has ended."""
        for name, process, _ in self._running:
            if process.poll() is not None:
                log = self._directory / f'{name}.log'
                raise DemoError(f'{name} ended early, see {log}: {self.last_line(name)}')

    def last_line(self, name: str) -> str:
        """Return the last line of a process's output."""
        log = (self._directory / f'{name}.log').read_text(encoding='utf-8', errors='replace')
        return log.rstrip().rpartition('\n')[2]

    def stop(self) -> None:
        """End the processes in reverse order of their start."""
        for name, process, output in reversed(self._running):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=15.0)
            except subprocess.TimeoutExpired:
                print(f'{name} did not end on SIGINT: killed', file=sys.stderr)
                process.kill()
                process.wait()
            output.close()
        self._running.clear()


@dataclass(frozen=True)
class Phase:
    """The motion under one control law, as recorded."""

    title: str  # name of the control law in table and picture
    motion: RestToRestMotion  # reference motion
    joints: tuple[str, ...]
    unit: str  # of printed errors
    received: Received
    start: float  # start of the motion in the robot's time, s
    rate: float  # achieved control rate, Hz
    late: int  # number of ticks more than half a period late
    cpu: float  # CPU share of the node's process, 1 for a whole core

    def errors(self) -> tuple[Array, Array]:
        """Return times since the start, shape (k,), s, and errors, shape (k, m), rad or m."""
        stamps, measured = positions(self.received.states, self.joints)
        t = stamps - self.start
        during = (t >= 0.0) & (t <= self.motion.duration)
        reference = self.motion.of_joints(self.joints).at(t[during])[0]
        errors = measured[during] - reference
        # A continuous joint may have arrived at the start with whole turns more or less.
        return t[during], errors - math.tau * np.round(errors[:1] / math.tau)

    def rms(self) -> float:
        """Return the root mean square of the error over joints and time, rad or m."""
        return float(np.sqrt(np.mean(self.errors()[1] ** 2)))

    def peak(self) -> float:
        """Return the greatest error of any joint, rad or m."""
        return float(np.abs(self.errors()[1]).max())


class Session:
    """A simulated arm, the node, and the client that commands both; :meth:`started` makes it."""

    def __init__(self, arm: DemoArm, client: DemoClient, tolerance: float) -> None:
        self._arm = arm
        self._client = client
        self._tolerance = tolerance
        model = arm.model
        numbers = [model.joint_names.index(name) for name in arm.joints]
        self._bounds = model.position_lower[numbers], model.position_upper[numbers]
        self._velocity = model.velocity_limits[numbers]
        self._continuous = model.continuous[numbers]

    @classmethod
    @contextmanager
    def started(
        cls, options: DemoRun, robot: DemoRobot, *, files: Sequence[Path] = (),
        terms: Collection[str] = (), tolerance: float = 0.1
    ) -> Iterator[Session]:
        """
        Start simulator, node and client; stop them in any case.

        If simulated time waits for the control, all states are recorded. ``files`` are parameters
        of the node; the tolerance of poses is in rad or m.
        """
        arm, rate, lockstep = options.arm, options.rate, not options.real_time
        robot_pace: dict[str, object] = {'watched': options.browser}
        node_pace: dict[str, object] = {}
        if lockstep:
            robot_pace |= {'state_rate': rate, 'publish_clock': True, 'lockstep': True}
            node_pace = {'trigger': 'joint_states', 'use_sim_time': True}
        processes = Processes(options.output)
        try:
            if options.browser:
                processes.start('panel', 'rnea_ros.tools.panel', {})
            processes.start('simulated_robot', 'rnea_ros.sim.simulated_robot', {
                **robot.simulation,
                **robot_pace,
                'robot_description': robot.urdf,
                'joints': list(arm.joints),
                'initial_positions': arm.plan.pose.tolist(),
            })
            processes.start('feedforward_node', 'rnea_ros.node.feedforward_node', {
                **robot.control,
                **node_pace,
                'robot_description': arm.urdf,
                'rate': rate,
                'hardware_compensates': ['none'],
                'mode': 'computed_torque',
                'gains.kp': arm.plan.kp.tolist(),
                'gains.kd': arm.plan.kd.tolist(),
                # A sagging arm may be near a limit; a way from its measured state would leave the
                # limits.
                'interpolate_from_desired_state': True,
                'ramp_duration': BLEND,
                # The arm may fall, far and fast, until it is caught.
                'start_tolerance': math.tau,
                'velocity_limit_factor': 0.0,
                # The simulator may stall on a busy computer.
                'joint_states_timeout': 1.0,
            }, *files)
            with live_node('demo', check=processes.check) as live:
                live.timeout = TIMEOUT
                client = DemoClient(live, arm.joints, terms, every_state=lockstep)
                session = cls(arm, client, tolerance)
                try:
                    caught = session.stop(arm.plan.pose)
                except DemoError as error:
                    said = processes.last_line('feedforward_node')
                    raise DemoError(f'{error}; the node: {said}') from error
                if (caught != arm.plan.pose).any():
                    session.move_to(arm.plan.pose)
                yield session
        finally:
            processes.stop()

    def hold(self, duration: float, max_drift: float = math.inf) -> Received:
        """Compensate gravity alone, for a duration, s, or until the drift; record meanwhile."""
        start = self._client.measured()

        def has_drifted(received: Received) -> bool:
            _, measured = positions(received.states[-1:], self._arm.joints)
            return bool(np.abs(measured - start).max() > max_drift)

        return self._client.record(
            duration, at_start=lambda: self._set_law('gravity'), until=has_drifted
        )

    def guide(self, motion: RestToRestMotion) -> Received:
        """Guide the weightless arm by the simulated hand; record, with the rest at both ends."""
        client, motion = self._client, motion.of_joints(self._arm.joints)
        client.wait_until('the hand', lambda: client.hand.subscribed)
        client.hand.send(motion, lead=GUIDE_REST)  # before the law: the arm may drift without it
        received = client.record(
            motion.duration + 2.0 * GUIDE_REST, at_start=lambda: self._set_law('gravity')
        )
        client.hand.cancel(self._arm.joints)
        return received

    def stop(self, pose: Array) -> Array:
        """Stop the arm near a pose, by computed torque; return where it rests or was caught."""
        for _ in range(START_TRIALS):
            pose = self._wait_until_held(pose)
            self._client.record(2.0 * BLEND)  # the law may still blend in, and the arm fall
            away = np.abs(shortest(self._client.measured() - pose, self._continuous))
            if away.max() < self._tolerance:
                return pose
        name = self._arm.joints[int(away.argmax())]
        raise DemoError(f'the node did not stop the arm: {name} is off by {away.max():.3g}')

    def _wait_until_held(self, pose: Array) -> Array:
        """
        Wait until the node holds the arm at a pose, shape (m,); return where it holds it.

        Without a reference an arm with a poor model falls, so the pose is sent from the first
        moment on. If it arrives late, the arm is caught where it is: a far pose would throw it.
        """
        client, progress = self._client, Progress()

        def held() -> bool:
            nonlocal pose
            if not client.diagnostics:  # the node is not active yet
                progress.show('... the first start compiles, for up to half a minute')
            measured = client.measured()
            away = float(np.abs(shortest(measured - pose, self._continuous)).max())
            if away > CATCH:
                pose = np.clip(measured, *self._bounds)
            if client.trajectories.subscribed:
                client.trajectories.send_pose(self._arm.joints, pose)
            return away < self._tolerance and client.diagnostics.get('state') in (
                'active', 'degraded'
            )

        client.wait_until('the node holds the arm', held)
        progress.end()
        return pose

    def move_to(self, pose: Array) -> None:
        """Move to a pose from any other, by computed torque, and rest there."""
        client = self._client
        self._set_law('computed_torque')
        # The arm may fall or sag: stop it where it is, within its limits.
        rest = self.stop(np.clip(client.measured(), *self._bounds))
        duration = np.abs(shortest(pose - rest, self._continuous)) / (WAY_SPEED * self._velocity)
        way = max(WAY, float(duration.max()))
        client.trajectories.send_pose(self._arm.joints, pose, way)
        client.record(way)
        for _ in range(ARRIVAL_CHECKS):
            _, measured = positions(self._client.record(LEAD).states[-1:], self._arm.joints)
            away = shortest((measured - pose)[0], self._continuous)
            if np.abs(away).max() < self._tolerance:
                return
        raise DemoError('the arm did not arrive at its pose')

    def follow(
        self, motion: RestToRestMotion, title: str, mode: str = 'computed_torque',
        gains: Gains | None = None
    ) -> Phase:
        """
        Move to the start pose, change the control law, follow a motion of the commanded joints.

        On the way to the start the gains are the plan's, and by default also in the motion.
        """
        client = self._client
        for trial in range(START_TRIALS):
            rejected_before = client.rejected_trajectories
            start = self._start(motion, mode, gains, LEAD * 2.0**trial)
            if client.now() + BLEND >= start:
                continue
            phase = self._record(motion, title, start)
            rejected = client.rejected_trajectories
            reasons = {why for why, n in rejected.items() if n != rejected_before.get(why)}
            if not reasons:
                return phase
            if reasons != {TrajectoryReason.ENDED_IN_PAST.value}:
                raise DemoError(f'the node rejected a trajectory: {rejected}')
        raise DemoError(f'motion or control law came too late, {START_TRIALS} times')

    def _start(
        self, motion: RestToRestMotion, mode: str, gains: Gains | None, lead: float
    ) -> float:
        """Move to the start, send a motion, change the law in ``lead``, s; return the start, s."""
        client, motion = self._client, motion.of_joints(self._arm.joints)
        self.move_to(motion.positions[0])
        start = client.now() + LEAD + lead + BLEND
        client.trajectories.send(motion, start)  # before the law: with feedback only, the arm sags
        client.record(LEAD)
        self._set_law(mode, gains)
        return start

    def _record(self, motion: RestToRestMotion, title: str, start: float) -> Phase:
        client = self._client
        late = int(client.diagnostics['late_ticks'])
        rates, shares = [], []
        shown = Progress()

        def progress(received: Received) -> None:
            if client.diagnostics['reason']:
                raise DemoError(f'the control ended: {client.diagnostics["reason"]}')
            rates.append(float(client.diagnostics['achieved_rate']))
            shares.append(float(client.diagnostics['cpu_share']))
            self._show(shown, title, motion, received, start)

        received = client.record(start + motion.duration - client.now(), progress)
        shown.end()
        return Phase(
            title, motion, self._arm.joints, self._arm.unit, received, start,
            float(np.mean(rates)), int(client.diagnostics['late_ticks']) - late,
            float(np.mean(shares)),
        )

    def _set_law(self, mode: str, gains: Gains | None = None) -> None:
        """Change the control law and its gains in one request."""
        kp, kd = gains or (self._arm.plan.kp, self._arm.plan.kd)
        self._client.set({'mode': mode, 'gains.kp': kp.tolist(), 'gains.kd': kd.tolist()})

    def _show(
        self, progress: Progress, title: str, motion: RestToRestMotion, received: Received,
        start: float
    ) -> None:
        stamps, measured = positions(received.states[-1:], self._arm.joints)
        t = stamps - start
        if t[0] < 0.0:
            return
        reference = motion.of_joints(self._arm.joints).at(t)[0]
        error = 1e3 * float(np.abs(shortest((measured - reference)[0], self._continuous)).max())
        line = f'{title:<20} {t[0]:5.1f} of {motion.duration:.0f} s, error {error:8.2f}'
        progress.show(f'{line} {self._arm.unit}')
