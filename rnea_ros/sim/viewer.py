# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's passive viewer for the simulated robot: a stick figure, as meshes are not read."""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import Any

import mujoco
import numpy as np

from ..errors import RneaError

INTERVAL = 1.0 / 60.0  # of the pictures, s
OPENING = 20.0  # longest wait for the window, s

LINK, JOINT, FLOOR = (0.75, 0.8, 0.88, 1.0), (0.95, 0.5, 0.1, 1.0), (0.45, 0.48, 0.5, 1.0)
"""Colours: red, green, blue, opacity."""

THICKNESS, THINNEST, THICKEST = 0.1, 0.004, 0.03
"""Radius of a link: share of its length, least and greatest, m."""


class ViewerError(RneaError):
    """No window can be opened."""


class Viewer:
    """
    A window with the robot. A closed window stays closed.

    The model should have the shapes of :func:`add_shapes`; the caller changes the data between two
    calls of :meth:`update`.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        check_display()
        from mujoco import viewer

        before = threading.enumerate()
        opened: queue.Queue[Any] = queue.Queue()
        # Without a working OpenGL it does not return.
        threading.Thread(
            target=lambda: opened.put(
                viewer.launch_passive(model, data, show_left_ui=False, show_right_ui=False)
            ),
            daemon=True,
        ).start()
        try:
            self._window = opened.get(timeout=OPENING)
        except queue.Empty:
            raise ViewerError(f"MuJoCo's viewer opened no window in {OPENING:g} s") from None
        self._window.cam.lookat[:] = data.subtree_com[0]
        self._window.cam.distance *= 0.7
        self._threads = [thread for thread in threading.enumerate() if thread not in before]
        self._due = 0.0

    def update(self) -> None:
        """Show the present state, at most every :data:`INTERVAL`."""
        now = time.monotonic()
        if now >= self._due and self._window.is_running():
            self._due = now + INTERVAL
            self._window.sync()

    def close(self) -> None:
        """Close the window, and wait for its threads: they would crash a process that ends."""
        self._window.close()
        for thread in self._threads:
            thread.join(OPENING)


def check_display() -> None:
    """Raise a ViewerError if there is no display."""
    if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
        raise ViewerError('the viewer needs a display, and DISPLAY is not set')


def add_shapes(spec: mujoco.MjSpec) -> None:
    """Draw links from joint to joint and a floor, without mass and contacts."""
    invisible = {'contype': 0, 'conaffinity': 0, 'mass': 0.0}
    for body in spec.bodies[1:]:
        for child in body.bodies:
            length = float(np.linalg.norm(child.pos))
            if length > THINNEST:
                body.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0.0, 0.0, 0.0, *child.pos],
                    size=[radius(length), 0.0, 0.0], rgba=LINK, **invisible
                )
        for joint in body.joints:
            size = radius(float(np.linalg.norm(body.pos)))
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[size, 0.0, 0.0], rgba=JOINT,
                fromto=[*(-1.5 * size * joint.axis), *(1.5 * size * joint.axis)], **invisible
            )
    spec.visual.headlight.ambient[:] = 0.35
    spec.visual.headlight.diffuse[:] = 0.6
    spec.worldbody.add_geom(
        # Without size it is infinite, and the camera stays near the robot.
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 0.1], rgba=FLOOR, **invisible
    )


def radius(length: float) -> float:
    """Return the radius of a link of a length, m."""
    return min(max(THICKNESS * length, THINNEST), THICKEST)
