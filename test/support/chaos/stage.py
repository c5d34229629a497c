# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The processes of the chaos test, a UR5e and its node, and how a life of the node ends."""

import json
from pathlib import Path
import signal
import time
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import pytest

import rnea_ros
from support.chaos.events import Events
from support.chaos.rules import Command, Limits, Witness
from support.models.robots import ROOT
from support.ros.ros_process import PATIENCE, RosProcess, wait_until

URDF = ROOT / 'urdf/ur5e.urdf'
MODEL = rnea_ros.RobotModel.from_urdf(URDF)
FOLDED = (0.0, -1.2, 2.4, -2.4, -1.57, 0.0)
PERIOD = 0.002
LIMITS = Limits(MODEL.effort_limits, 10.0 * MODEL.effort_limits)

# Gears with a ratio of a hundred: friction in N m s/rad and N m, rotors in kg m^2.
DAMPING = (12.0, 12.0, 12.0, 2.0, 2.0, 2.0)
FRICTION = (8.0, 8.0, 8.0, 2.0, 2.0, 2.0)
ARMATURE = (1.4, 1.4, 1.4, 0.3, 0.3, 0.3)
CONTACT, INLINE, IMU = 'contact', 'force_torque_sensor_broadcaster/wrench', 'imu'

ARM = {
    'urdf': str(URDF), 'initial_positions': list(FOLDED), 'state_rate': 500.0,
    'wrench_link': 'wrist_3_link', 'extra_damping': list(DAMPING),
    'extra_friction': list(FRICTION), 'armature': list(ARMATURE), 'payload.link': 'tool0',
    'payload.mass': 0.5,
}
CONTROL = {
    # The topic robot_description gets whatever chance sends, also while the node starts.
    'robot_description': URDF.read_text(encoding='utf-8'),
    'rate': 1.0 / PERIOD,
    'mode': 'computed_torque',
    'hardware_compensates': ['none'],
    'gains.kp': [9.0],
    'gains.kd': [6.0],
    'armature': list(ARMATURE),
    'friction.model': 'parameters',
    'friction.viscous': [0.8 * value for value in DAMPING],
    'friction.coulomb': [0.8 * value for value in FRICTION],
    'friction.velocity': 'desired',
    'payload.link': ['tool0'],
    'payload.mass': [0.5],
    'wrench_inputs.names': ['contact', 'inline'],
    'wrench_inputs.contact.topic': CONTACT,
    'wrench_inputs.inline.topic': INLINE,
    'wrench_inputs.inline.link': 'wrist_3_link',
    'wrench_inputs.inline.placement': 'inline',
    'base_sensor.topic': IMU,
    'base_sensor.use': 'motion',
    'contact.action': 'hold',
    'contact.threshold': [6.0, 6.0, 6.0, 3.0, 3.0, 3.0],
    'ramp_duration': 0.3,
}
IN_CONTROL = ('active', 'degraded')
MAX_ATTEMPTS = 10
ABSENCE = 4.0
"""Longest absence of the controller, 1 s, and time until its joints are confirmed, s."""


class Stage:
    """
    The processes and what is done to them.

    :param node: the test's own
    :param domain_id: its DDS domain
    :param directory: for files
    """

    def __init__(self, node: Any, domain_id: int, directory: Path) -> None:
        self._domain_id = domain_id
        self._directory = directory
        self._change = node.create_client(ChangeState, 'feedforward/change_state')
        self.gave_up: list[tuple[float, str]] = []
        """When the control had ended, wall time, s, and its reason."""

    def process(self, module: str, values: dict[str, Any] | None = None) -> RosProcess:
        """Return a process of the package or of the tests, with parameters."""
        path = self._directory / f'{module}.yaml'
        path.write_text(json.dumps({'/**': {'ros__parameters': values or {}}}))
        arguments = ('--ros-args', '--params-file', str(path)) if values else ()
        return RosProcess(module, *arguments, domain_id=self._domain_id)

    def change_state(self, transition: int) -> bool:
        """Ask the node for a transition; return whether it was made."""
        assert wait_until(self._change.service_is_ready)
        request = ChangeState.Request()
        request.transition.id = transition
        future = self._change.call_async(request)
        assert wait_until(future.done)
        return bool(future.result().success)

    def activate_again(self) -> None:
        """Deactivate the node and activate it."""
        assert self.change_state(Transition.TRANSITION_DEACTIVATE)
        assert self.change_state(Transition.TRANSITION_ACTIVATE)

    def wait_for_control(self, witness: Witness, control: RosProcess) -> None:
        """
        Wait until the node's diagnostics report, from now on, that it is in control.

        Where it was stopped, or the machine stalls, for too long the control ends, and is
        activated again, as an operator would do it.
        """
        for _ in range(MAX_ATTEMPTS):
            witness.forget('control')
            reached = wait_until(
                lambda: witness.diagnostics['control'].get('state') in (*IN_CONTROL, 'fault'),
                3.0 * PATIENCE,
            )
            assert reached, f'{witness.diagnostics}, gave up {self.gave_up}:\n{control.output}'
            if witness.diagnostics['control']['state'] in IN_CONTROL:
                return
            self.gave_up.append((time.time(), witness.diagnostics['control']['reason']))
            self.activate_again()
        pytest.fail(f'the control ended again and again, {self.gave_up}:\n{control.output}')


def stop_for_a_while(control: RosProcess, witness: Witness) -> None:
    """Let the node stand still until the watchdog has acted, and half a second longer."""
    control.send(signal.SIGSTOP)
    witness.forget('watchdog')
    # Quiet it is where the control had given up, and sent zeros by itself, just before.
    ended = wait_until(lambda: witness.diagnostics['watchdog'].get('state') in ('acted', 'quiet'))
    assert ended, (witness.diagnostics, witness.commands[-3:])
    time.sleep(0.5)
    control.send(signal.SIGCONT)


def kill(control: RosProcess, witness: Witness) -> list[Command]:
    """
    Kill the node, and wait until nothing is left of its efforts; return what the watchdog sent.

    That is nothing only where the control had given up, and sent zeros by itself, just before.
    """
    control.send(signal.SIGKILL)
    assert control.wait() == -signal.SIGKILL
    witness.forget('watchdog')
    ended = wait_until(lambda: witness.diagnostics['watchdog'].get('state') in ('acted', 'quiet'))
    ended = ended and wait_until(lambda: not witness.commands[-1].efforts.any())
    assert ended, (witness.diagnostics, witness.commands[-3:])
    last = witness.node_command_at(0.0, -1)
    acted = wait_until(lambda: not last.efforts.any() or witness.since_the_nodes_last())
    assert acted, (last, witness.commands[-3:])
    return witness.since_the_nodes_last()


def end_by(control: RosProcess, number: signal.Signals, witness: Witness, events: Events) -> None:
    """
    Check rule 9: a signal ends the node in zeros, whatever happens meanwhile.

    Commands are withheld from a controller that has just left: the watchdog's are the last then.
    """
    absent = time.monotonic() < events.left_at + ABSENCE
    began = time.time()
    with events.happening(control):
        control.send(number)
        assert control.wait() == 0, control.output
    absent = absent or events.left_at > time.monotonic() - ABSENCE
    assert wait_until(lambda: not witness.commands[-1].efforts.any()), witness.commands[-3:]
    if not absent:
        last = witness.node_command_at(began, -1)
        assert not last.efforts.any(), f'{number.name}: {last}\n{control.output}'
