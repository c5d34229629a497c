# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm under the control of the node, in separate processes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rclpy

from ...arrays import Array
from ...identification.excitation import RestToRestMotion
from .arm import DemoArm
from .client import DemoClient, DemoError, Received, positions
from .motion import KD, KP, reference_positions
from .processes import Processes
from .robot import DemoRobot

WAY = 3.0
"""Duration of the way to a pose, s."""

BLEND = 0.5
"""Duration of the blending of control laws, s."""

LEAD = 0.3
"""Time between sending a motion and the change of the control law, s."""

FALL = 3.0
"""Greatest fall after which the arm is still caught, rad or m."""

START_TRIALS = 5
"""Greatest number of times that a motion is started."""

ARRIVAL_CHECKS = 30
"""Greatest number of checks of a pose."""


@dataclass(frozen=True)
class DemoRun:
    """
    Options of a run of the demo.

    :param arm: arm of the node's model
    :param motion: motion to follow
    :param rate: control rate, Hz
    :param output: directory of all files
    :param show: whether to open a window with the picture
    """

    arm: DemoArm
    motion: RestToRestMotion
    rate: float
    output: Path
    show: bool = False


@dataclass(frozen=True)
class Phase:
    """
    The motion under one control law, as recorded.

    :param title: name of the control law in table and picture
    :param motion: reference motion
    :param joints: names of the commanded joints
    :param received: recorded joint states and terms
    :param start: start of the motion in the robot's time, s
    :param rate: achieved control rate, Hz
    :param late: number of ticks more than half a period late
    :param cpu: CPU share of the node's process, 1 for a whole core
    """

    title: str
    motion: RestToRestMotion
    joints: tuple[str, ...]
    received: Received
    start: float
    rate: float
    late: int
    cpu: float

    def errors(self) -> tuple[Array, Array]:
        """Return times since the start, shape (k,), s, and errors, shape (k, m), rad or m."""
        stamps, measured = positions(self.received.states, self.joints)
        t = stamps - self.start
        during = (t >= 0.0) & (t <= self.motion.duration)
        reference = reference_positions(self.motion, self.joints, t[during])
        return t[during], measured[during] - reference

    def rms(self) -> float:
        """Return the root mean square of the error over joints and time, rad or m."""
        return float(np.sqrt(np.mean(self.errors()[1] ** 2)))

    def peak(self) -> float:
        """Return the greatest error of any joint, rad or m."""
        return float(np.abs(self.errors()[1]).max())


class Session:
    """
    A simulated arm, the node, and the client that commands both; :meth:`started` makes it.

    :param arm: arm of the node's model
    :param client: ROS client
    :param tolerance: tolerance of poses, rad or m
    """

    def __init__(self, arm: DemoArm, client: DemoClient, tolerance: float) -> None:
        self._arm = arm
        self._client = client
        self._tolerance = tolerance

    @classmethod
    @contextmanager
    def started(
        cls,
        arm: DemoArm,
        robot: DemoRobot,
        directory: Path,
        rate: float,
        *,
        files: Sequence[Path] = (),
        terms: Collection[str] = (),
        tolerance: float = 0.02,
        lockstep: bool = False,
    ) -> Iterator[Session]:
        """
        Start simulator, node and client; stop them in any case.

        :param arm: arm of the node's model
        :param robot: the simulated robot and the node's parameters
        :param directory: of parameter files and logs
        :param rate: control rate, Hz
        :param files: further parameter files of the node
        :param terms: effort terms to record
        :param tolerance: tolerance of poses, rad or m
        :param lockstep: whether simulated time waits for the control; then every joint state is
            recorded
        """
        robot_pace: dict[str, object] = {}
        node_pace: dict[str, object] = {}
        if lockstep:
            robot_pace = {'state_rate': rate, 'publish_clock': True, 'lockstep': True}
            node_pace = {'trigger': 'joint_states', 'use_sim_time': True}
        processes = Processes(directory)
        try:
            processes.start(
                'simulated_robot',
                'rnea_ros.sim.simulated_robot',
                {
                    **robot.simulation,
                    **robot_pace,
                    'robot_description': robot.urdf,
                    'joints': list(arm.joints),
                    'initial_positions': arm.pose.tolist(),
                },
            )
            processes.start(
                'feedforward_node',
                'rnea_ros.node.feedforward_node',
                {
                    **robot.control,
                    **node_pace,
                    'robot_description': arm.urdf,
                    'rate': rate,
                    'hardware_compensates': ['none'],
                    'mode': 'computed_torque',
                    'gains.kp': [KP],
                    'gains.kd': [KD],
                    'ramp_duration': BLEND,
                    'start_tolerance': FALL,
                    # The simulator may stall on a busy computer.
                    'joint_states_timeout': 1.0,
                },
                *files,
            )
            rclpy.init(args=[])
            client = DemoClient(arm.joints, processes.check, terms, every_state=lockstep)
            try:
                client.wait_until_held(arm.pose, tolerance)
                yield cls(arm, client, tolerance)
            finally:
                client.close()
                rclpy.try_shutdown()
        finally:
            processes.stop()

    def hold(self, duration: float) -> Received:
        """
        Hold the arm by gravity compensation alone; record from the change of the law on.

        :param duration: duration, s
        """
        return self._client.record(duration, at_start=lambda: self._set_law('gravity'))

    def move_to(self, pose: Array) -> None:
        """
        Move to a pose from any other, by computed torque, and rest there.

        :param pose: positions of the commanded joints, shape (m,), rad or m
        :raises DemoError: the arm does not arrive
        """
        self._set_law('computed_torque')
        self._client.send_pose(pose, WAY)
        self._client.record(WAY)
        for _ in range(ARRIVAL_CHECKS):
            states = self._client.record(LEAD).states
            _, measured = positions(states[-1:], self._arm.joints)
            if np.abs(measured - pose).max() < self._tolerance:
                return
        raise DemoError('the arm did not arrive at its pose')

    def follow(
        self, motion: RestToRestMotion, title: str, mode: str = 'computed_torque',
        scale: Array | float = 1.0
    ) -> Phase:
        """
        Move to the start pose, change the control law, follow a motion.

        :param motion: motion of the commanded joints that starts at rest at the start pose
        :param title: name of the phase
        :param mode: control law
        :param scale: factor of the gains of computed torque, shape (m,)
        :raises DemoError: the node rejects the motion, is too late, or ends the control
        """
        client = self._client
        rejected_before = client.rejected_trajectories()
        start = self._start(motion, mode, scale)
        late = int(client.diagnostics['late_ticks'])
        rates, shares = [], []

        def progress(received: Received) -> None:
            if client.diagnostics['reason']:
                raise DemoError(f'the control ended: {client.diagnostics["reason"]}')
            rates.append(float(client.diagnostics['achieved_rate']))
            shares.append(float(client.diagnostics['cpu_share']))
            self._print_progress(title, motion, received, start)

        received = client.record(start + motion.duration - client.now(), progress)
        print()
        rejected = client.rejected_trajectories()
        if rejected != rejected_before:
            raise DemoError(f'the node rejected a trajectory: {rejected}')
        return Phase(
            title, motion, self._arm.joints, received, start, float(np.mean(rates)),
            int(client.diagnostics['late_ticks']) - late, float(np.mean(shares))
        )

    def _start(self, motion: RestToRestMotion, mode: str, scale: Array | float) -> float:
        """
        Move to the start pose, send a motion, and change the control law before it starts.

        On a busy computer the change may come too late; then everything is repeated.

        :return: start of the motion, s
        :raises DemoError: each change came too late
        """
        client = self._client
        for _ in range(START_TRIALS):
            self.move_to(self._arm.pose)
            # Send first: a motion must start near the robot, and with feedback only it sags.
            start = client.now() + LEAD + BLEND
            client.send(motion, start)
            client.record(LEAD)
            self._set_law(mode, scale)
            if client.now() < start:
                return start
        raise DemoError(f'the node changed the control law too late, {START_TRIALS} times')

    def _set_law(self, mode: str, scale: Array | float = 1.0) -> None:
        gains = scale * np.ones(len(self._arm.joints))
        self._client.set_law(mode, KP * gains, KD * gains)

    def _print_progress(
        self, title: str, motion: RestToRestMotion, received: Received, start: float
    ) -> None:
        stamps, measured = positions(received.states[-1:], self._arm.joints)
        t = stamps - start
        if t[0] < 0.0:
            return
        reference = reference_positions(motion, self._arm.joints, t)
        error = 1e3 * float(np.abs(measured - reference).max())
        line = f'{title:<20} {t[0]:5.1f} of {motion.duration:.0f} s, error {error:8.2f} mrad'
        print(f'\r{line}', end='', flush=True)
