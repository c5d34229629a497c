# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The fed arm: parameters of the loops, joint states and a wrench at a rate, commands noted."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
import time
from typing import Any

from geometry_msgs.msg import Vector3, WrenchStamped
from geometry_msgs.msg import Wrench as WrenchMessage
import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rnea_ros import RobotModel, Wrench

from .. import ROOT
from ..robots import Array
from .players import TOPIC
from .ticks import pace, take

URDF = (ROOT / 'urdf' / 'panda_arm.urdf').read_text(encoding='utf-8')
JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))
POSE = (0.1, -0.4, 0.2, -1.9, 0.3, 1.7, 0.5)
LINK = 'fer_link7'  # of the wrench; no fixed joint lies between it and the joint that moves it
FORCE, TORQUE = (3.0, -2.0, 5.0), (0.1, 0.2, -0.1)

MOVING_JOINT = 1  # the joint whose command identifies the state
SWEEP = 0.4  # its motion, rad; to and fro within one round
STATES = 2000  # states in a round: commands within this number of periods differ
SLOWNESS = 1.001  # the period is so much longer, so that every phase between two loops occurs
QUEUE = 1000  # commands that wait to be noted
CLOSE = 1e-3  # share of the smallest difference of two states' commands; less is equal

PATIENT = 2.0  # timeout of inputs, s: a machine that stalls must not end the control
HARMLESS = 'friction.smoothing_velocity'  # can be set while active; no effect without friction

FOLLOWING: dict[str, Any] = {'mode': 'computed_torque', 'start_tolerance': 6.28}
"""With no gains and at rest, the same numbers as mode gravity; trajectories are followed."""

PARAMETERS: dict[str, Any] = {
    'robot_description': URDF,
    'joints': list(JOINTS),
    HARMLESS: [0.05],
    'hardware_compensates': ['none'],
    'ramp_duration': 0.0,  # a ramp would change the commands that identify states
    'payload.blend_duration': 0.0,
    'hold_duration': 0.1,
    'joint_states_timeout': PATIENT,
    'velocity_limit_factor': 0.0,  # a stalled machine loses joint states
    'effort_rate_limit': [1e6],
    'wrench_inputs.names': ['hand'],
    'wrench_inputs.hand.topic': 'wrench',
    'wrench_inputs.hand.link': LINK,
    'wrench_inputs.hand.deadband_force': 0.0,
    'wrench_inputs.hand.deadband_torque': 0.0,
    'wrench_inputs.hand.fade': 0.05,
    'wrench_inputs.hand.timeout': PATIENT,
    'wrench_inputs.hand.tare_duration': PATIENT,
}
"""Parameters of all loops, without their rate."""


@cache
def positions() -> Array:
    """Return the joint positions of each state, shape (states, 7), rad; no two are the same."""
    half = np.arange(0, STATES, 2)
    slots = np.concatenate([half, half[::-1] + 1])
    positions = np.tile(POSE, (STATES, 1))
    positions[:, MOVING_JOINT] += SWEEP * (slots / STATES - 0.5)
    return positions


@cache
def efforts() -> Array:
    """Return what gravity control commands in each state, shape (states, 7), N m."""
    model, still = RobotModel.from_urdf(URDF), np.zeros(len(JOINTS))
    wrench = {LINK: Wrench(FORCE, TORQUE)}
    return np.array([model.inverse_dynamics(q, still, still, wrench) for q in positions()])


class FedArm:
    """
    The arm that a loop controls, in this process; use as a context.

    :param rate: of the states, Hz
    :ivar commands: the moving joint's commands since the last feeding began
    """

    def __init__(self, rate: float) -> None:
        self._positions = [array('d', row) for row in positions().tolist()]
        self._schedule = pace(SLOWNESS / rate)
        self._number = 0
        self.node = rclpy.create_node('arm')
        zeros = array('d', [0.0] * len(JOINTS))
        self._state = JointState(name=list(JOINTS), velocity=zeros, effort=zeros)
        (fx, fy, fz), (tx, ty, tz) = FORCE, TORQUE
        self._wrench = WrenchStamped(wrench=WrenchMessage(
            force=Vector3(x=fx, y=fy, z=fz), torque=Vector3(x=tx, y=ty, z=tz)
        ))
        self._wrench.header.frame_id = LINK
        self._states = self.node.create_publisher(JointState, 'joint_states', 10)
        self._wrenches = self.node.create_publisher(WrenchStamped, 'wrench', 10)
        self._commands = self.node.create_subscription(Float64MultiArray, TOPIC, print, QUEUE)

    def __enter__(self) -> FedArm:
        return self

    def __exit__(self, *_: object) -> None:
        self.node.destroy_node()

    def feed(self, seconds: float, over: Callable[[], bool] = lambda: False) -> None:
        """Feed for some time, or until a condition is true; only this is noted."""
        self._first, self._sent = self._number, array('q')
        self._received, self.commands = array('q'), array('d')
        stop = time.monotonic() + seconds
        for now, _ in self._schedule:
            if now > stop or over():
                break
            self._send()
            for message, info in take(self._commands, Float64MultiArray):
                # Not every implementation of DDS has the time of receipt.
                self._received.append(info['received_timestamp'] or info['source_timestamp'])
                self.commands.append(message.data[MOVING_JOINT])

    def latencies(self, expected: Array) -> Array:
        """Return the latencies of what was noted; expected: the command of each state."""
        start = self._sent[0] if self._sent else 0
        sent, received = (
            1e-9 * (np.array(times) - start) for times in (self._sent, self._received)
        )
        return latencies(
            sent, received, np.array(self.commands), np.roll(expected, -self._first)
        )

    def _send(self) -> None:
        state, wrench, now = self._state, self._wrench, time.time_ns()
        state.position = self._positions[self._number % STATES]
        for stamp in (state.header.stamp, wrench.header.stamp):
            stamp.sec, stamp.nanosec = divmod(now, 1_000_000_000)
        self._states.publish(state)
        self._wrenches.publish(wrench)
        self._sent.append(now)
        self._number += 1


def latencies(sent: Array, received: Array, commanded: Array, expected: Array) -> Array:
    """
    Return the time from the sending of a state to the receipt of the first command made from it.

    States without a command are left out, and commands that no state explains.

    :param sent: when the states were sent, in order, shape (n,), s
    :param received: when the commands came, in order, shape (m,), s
    :param commanded: one joint's command, shape (m,)
    :param expected: the same for each state of a round, all different, shape (k,)
    :return: shape (at most m,), s
    """
    order = np.argsort(expected)
    ranked = expected[order]
    near = np.clip(np.searchsorted(ranked, commanded), 1, ranked.size - 1)
    near -= commanded - ranked[near - 1] < ranked[near] - commanded
    explained = np.abs(ranked[near] - commanded) < CLOSE * np.diff(ranked).min()
    newest = np.searchsorted(sent, received) - 1
    numbers = newest - (newest - order[near]) % ranked.size
    explained &= numbers >= 0
    used, first = np.unique(numbers[explained], return_index=True)
    found: Array = received[explained][first] - sent[used]
    return found
