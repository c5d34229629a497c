# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Draw docs/pictures/demo.gif: a simulated arm that falls, is weightless, and follows a motion.

``python docs/animation.py`` writes the file. The robot is that of the demo, which differs from the
model that computes its efforts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
import sys
from typing import Any

from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure
import numpy as np
from numpy.typing import NDArray

from rnea_ros import Wrench
from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.demo.plan import KD, KP, sine_motion
from rnea_ros.sim.demo.robot import GOOD_MODEL, realistic
from rnea_ros.sim.physics import SimulatedRobot

Array = NDArray[np.float64]
Law = Callable[[float, Array, Array], Array]

FILE = Path(__file__).parent / 'pictures' / 'demo.gif'
FRAMES_A_SECOND = 15
TIMESTEP = 0.001
DAMPING, FRICTION = 4.0, 1.0
"""Of the joints that fall or are weightless, N m s/rad and N m: a push ends in a stop."""

PUSH_LINK, PUSH = 'fer_link7', np.array([0.0, 18.0, 16.0])
"""N, in the axes of the base."""

LIGHT, DARK, ACCENT = '#e8e8e4', '#3c4043', '#c0392b'


@dataclass(frozen=True)
class Frame:
    """
    One picture.

    :param title: what is shown
    :param points: origins of the links, shape (k, 3), m
    :param trail: way of the hand's reference so far, shape (n, 3), m
    :param push: force on the hand, N; None for none
    """

    title: str
    points: Array
    trail: Array
    push: Array | None


class Scenes:
    """The three scenes, simulated."""

    def __init__(self) -> None:
        arm = DemoArm.load('panda_arm')
        self._model, self._joints, self._pose = arm.model, arm.joints, arm.plan.pose
        self._robot = realistic(arm, GOOD_MODEL, seed=1)

    def frames(self) -> Iterator[Frame]:
        """Yield the pictures in their order."""
        yield from self._falls()
        yield from self._is_weightless()
        yield from self._follows()

    def _points(self, q: Array) -> Array:
        links = [name for name in self._model.link_names if name.startswith('fer_link')]
        return np.array([self._model.forward_kinematics(q, link)[:3, 3] for link in links])

    def _simulated(
        self, title: str, duration: float, law: Law, losses: float, pushed: tuple[float, float]
    ) -> Iterator[tuple[float, Frame]]:
        """Yield the time and the picture of each frame; the law gives the efforts."""
        robot = SimulatedRobot(
            self._robot.urdf,
            initial_positions=self._pose,
            timestep=TIMESTEP,
            extra_damping=[losses * DAMPING] * len(self._joints),
            extra_friction=[losses * FRICTION] * len(self._joints),
        )
        still = np.zeros((0, 3))
        for step in range(round(duration / TIMESTEP)):
            time = step * TIMESTEP
            push = PUSH if pushed[0] <= time < pushed[1] else None
            wrench = None if push is None else Wrench(push, frame=self._model.link_names[0])
            robot.apply_push(PUSH_LINK, wrench)
            state = robot.state()
            if step % round(1.0 / FRAMES_A_SECOND / TIMESTEP) == 0:
                yield time, Frame(title, self._points(state.positions), still, push)
            robot.step(law(time, state.positions, state.velocities))

    def _falls(self) -> Iterator[Frame]:
        n = len(self._joints)
        for _, frame in self._simulated(
            'no effort: the arm falls', 1.8, lambda *_: np.zeros(n), 1.0, (0.0, 0.0)
        ):
            yield frame

    def _is_weightless(self) -> Iterator[Frame]:
        def law(_: float, q: Array, __: Array) -> Array:
            return self._model.gravity_torques(q)

        title = 'gravity compensation: weightless'
        for _, frame in self._simulated(title, 4.0, law, 1.0, (0.8, 1.8)):
            yield frame

    def _follows(self) -> Iterator[Frame]:
        motion = sine_motion(self._model, self._joints, self._pose, 6.0)

        def law(time: float, q: Array, qd: Array) -> Array:
            q_d, qd_d, qdd_d = (rows[0] for rows in motion.at(np.array([time])))
            return self._model.inverse_dynamics(q, qd, qdd_d + KP * (q_d - q) + KD * (qd_d - qd))

        trail: list[Array] = []
        title = 'computed torque: follows a motion'
        for time, frame in self._simulated(title, motion.duration, law, 0.0, (0.0, 0.0)):
            trail.append(self._points(motion.at(np.array([time]))[0][0])[-1])
            yield Frame(frame.title, frame.points, np.array(trail), None)


def draw(axes: Any, frame: Frame) -> list[Any]:
    """Draw one picture; return what was drawn."""
    axes.clear()
    axes.set_axis_off()
    axes.set(xlim=(-0.55, 0.75), ylim=(-0.65, 0.65), zlim=(0.0, 1.15))
    axes.set_box_aspect((1.3, 1.3, 1.15), zoom=1.38)
    axes.view_init(elev=16.0, azim=-58.0)
    axes.set_title(frame.title, y=0.94, fontsize=13, color=DARK)
    grid = np.linspace(-0.6, 0.6, 7)
    for value in grid:
        axes.plot([value, value], [-0.6, 0.6], 0.0, color='#dddddd', linewidth=0.8)
        axes.plot([-0.6, 0.6], [value, value], 0.0, color='#dddddd', linewidth=0.8)
    points = frame.points
    axes.plot(points[:, 0], points[:, 1], 0.0, color='#bbbbbb', linewidth=7.0,
              solid_capstyle='round')
    if len(frame.trail):
        axes.plot(*frame.trail.T, color=ACCENT, linewidth=1.6)
    widths = np.linspace(15.0, 8.0, len(points) - 1)
    for a, b, width in zip(points[:-1], points[1:], widths, strict=True):
        if np.allclose(a, b):
            continue
        for colour, extra in ((DARK, 2.5), (LIGHT, 0.0)):
            axes.plot(*zip(a, b, strict=True), color=colour, linewidth=width + extra,
                      solid_capstyle='round')
    axes.plot(*points.T, 'o', color=DARK, markersize=5)
    if frame.push is not None:
        hand, direction = points[-1], frame.push / 70.0
        axes.quiver(*(hand - direction), *direction, color=ACCENT, linewidth=3.0)
    return list(axes.get_children())


def main() -> int:
    """Write the file; return the exit code."""
    frames = list(Scenes().frames())
    figure = Figure(figsize=(4.4, 4.0), dpi=100)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection='3d')
    animation = FuncAnimation(figure, lambda k: draw(axes, frames[k]), frames=len(frames))
    FILE.parent.mkdir(exist_ok=True)
    animation.save(FILE, writer=PillowWriter(fps=FRAMES_A_SECOND))
    print(f'{FILE}: {len(frames)} pictures, {FILE.stat().st_size / 1e6:.1f} MB')
    return 0


if __name__ == '__main__':
    sys.exit(main())
