# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Draw docs/pictures/external_effort.png: a push on a simulated arm that moves, as the node sees it.

``python docs/external_effort_picture.py`` writes the file. Needs MuJoCo and matplotlib.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rnea_ros import ReferenceFrame, RobotModel, Wrench
from rnea_ros.arrays import Array
from rnea_ros.drawing import add_grid, legend_above, new_figure, save
from rnea_ros.feedforward import FeedforwardController
from rnea_ros.feedforward.laws import ComputedTorque
from rnea_ros.feedforward.measured import JointStateMonitor
from rnea_ros.feedforward.motion import Setpoint
from rnea_ros.feedforward.settings import (
    ContactAction,
    ContactSettings,
    ExternalEffortSettings,
    Settings,
    resolve,
)
from rnea_ros.sim.physics import Noise, SimulatedRobot

FILE = Path(__file__).parent / 'pictures' / 'external_effort.png'
URDF = Path(__file__).parents[1] / 'urdf' / 'panda_arm.urdf'
POSE = np.array([0.3, -0.785, 0.2, -2.0, 0.4, 1.571, 0.785])
LINK = 'fer_link8'
PUSH = np.array([0.0, 0.0, -10.0])
FROM, TO, END = 1.0, 1.4, 2.0
SHOWN = (1, 3, 5)
STEP = 0.002
NOISE = Noise(velocity=0.002, effort=0.02)


def motion(t: float) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations of all joints, each a sine."""
    w, size = np.pi, np.full(7, 0.3)
    return (
        POSE + size * (1.0 - np.cos(w * t)), size * w * np.sin(w * t), size * w * w * np.cos(w * t)
    )


def simulate() -> dict[str, Array]:
    """Return times, external efforts, their thresholds and true values, and the force."""
    urdf = URDF.read_text(encoding='utf-8')
    simulated = SimulatedRobot(urdf, initial_positions=POSE, noise=NOISE)
    model = RobotModel.from_urdf(urdf)
    settings = Settings(
        joints=simulated.joint_names, rate=1.0 / STEP, mode=ComputedTorque, kp=(100.0,),
        kd=(20.0,), ramp_duration=0.1, contact=ContactSettings(ContactAction.FLAG),
        external_effort=ExternalEffortSettings(link=LINK),
    )
    states = JointStateMonitor(model.joint_names)
    control = FeedforwardController(model, resolve(settings, model), states)
    rows: dict[str, list[Any]] = {
        name: [] for name in ('time', 'effort', 'threshold', 'true', 'force', 'contact')
    }
    for k in range(round(END / STEP)):
        t = k * STEP
        now = 100.0 + t
        measured = simulated.state()
        states.take_sample(
            simulated.reported_joints, measured.positions, measured.velocities, measured.efforts,
            stamp=now, clock=now, received=now,
        )
        control.follow(Setpoint(None, settings.joints, *motion(t)), None)
        pushed = FROM <= t < TO
        push = Wrench(force=tuple(PUSH), frame=ReferenceFrame.ROOT_LINK)
        simulated.apply_push(LINK, push if pushed else None)
        command = control.step(now)
        external = control.external_effort
        if external is not None:
            q = measured.positions
            turned = model.forward_kinematics(q, LINK)[:3, :3]
            wrench = external.wrench_at_link()
            assert wrench is not None
            true = model.jacobian(q, LINK).T[:, 3:] @ turned.T @ PUSH
            rows['time'].append(t)
            rows['effort'].append(external.effort.copy())
            rows['threshold'].append(external.threshold.copy())
            rows['true'].append(true if pushed else 0.0 * true)
            rows['force'].append(turned @ wrench[3:])
            rows['contact'].append(external.contact)
        for _ in range(2):
            simulated.step(command)
    return {name: np.array(values) for name, values in rows.items()}


def draw(figure: Any, found: dict[str, Array]) -> None:
    """Draw three joints and the force."""
    joints = RobotModel.from_urdf(URDF).joint_names
    axes = figure.subplots(len(SHOWN) + 1, 1, sharex=True)
    time = found['time']
    for axis, joint in zip(axes, SHOWN, strict=False):
        limit = found['threshold'][:, joint]
        axis.fill_between(time, -limit, limit, color='#dddddd', label='below the threshold')
        axis.plot(time, found['true'][:, joint], '--', color='#3c4043', label='true')
        axis.plot(time, found['effort'][:, joint], color='#1a73e8', label='external effort')
        axis.set_ylabel(f'{joints[joint]}\nN m', fontsize='small')
    legend_above(axes[0])
    for name, values, colour in zip('xyz', found['force'].T, ('C1', 'C2', 'C3'), strict=True):
        axes[-1].plot(time, values, color=colour, label=name)
    axes[-1].set_ylabel('force, N', fontsize='small')
    axes[-1].legend(loc='lower left', fontsize='small', ncol=3, frameon=False)
    axes[-1].set_xlabel('time, s')
    axes[-1].set_xlim(0.7, END)
    for axis in axes:
        add_grid(axis)
    began = time[found['contact'].argmax()]
    for axis in axes:
        axis.axvline(began, color='#d93025', linewidth=0.8)
    print(f'contact {1e3 * (began - FROM):.0f} ms after the push begins')


if __name__ == '__main__':
    picture = new_figure(8.0, 6.4)
    draw(picture, simulate())
    save(picture, FILE)
