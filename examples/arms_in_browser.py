# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The two arms of the example of teleoperation in a browser, with hand, wall and contact."""

from __future__ import annotations

import time

from controlled_arm import PERIOD, ControlledArm
import numpy as np
from two_arms import TwoArms

from rnea_ros.arrays import Array
from rnea_ros.panel.scene import Scene
from rnea_ros.panel.server import Server
from rnea_ros.sim.demo.arm import DemoArm

TICKS = round(0.04 / PERIOD)  # of the control between two pictures
HAND, CONTACT, WALL = (47, 158, 68), (224, 49, 49), (173, 181, 189)  # colours


class ArmsInBrowser:
    """Shows the arms after each tick, in real time."""

    def __init__(self, arm: DemoArm) -> None:
        self._urdf = arm.urdf
        self._server = Server('127.0.0.1')
        self._server.initial_camera.position = (1.6, -0.9, 0.9)
        self._server.initial_camera.look_at = (0.3, 0.4, 0.4)
        self._server.scene.add_grid('/floor', width=4.0, height=4.0)
        self._leader = Scene(self._server, 'leader', (0.0, 0.0, 0.0))
        self._follower = Scene(self._server, 'follower', (0.0, 1.0, 0.0))
        self._wall = self._server.scene.add_box(
            '/wall', dimensions=(0.02, 0.5, 0.5), color=WALL, opacity=0.6, visible=False)
        self._ticks, self._start = 0, time.monotonic()

    def __call__(self, arms: TwoArms) -> None:
        """Show a picture if one is due, and wait for real time."""
        self._ticks += 1
        if self._ticks % TICKS:
            return
        self._show(self._leader, arms.leader, arms, HAND, arms.hand_force())
        contact = np.array([arms.wall.force, 0.0, 0.0])
        self._show(self._follower, arms.follower, arms, CONTACT, contact)
        self._wall.visible = bool(np.isfinite(arms.wall.position))
        if self._wall.visible:
            height = self._follower.poses[arms.link][2, 3]
            self._wall.position = (arms.wall.position + 0.01, 1.0, height)
        time.sleep(max(self._start + self._ticks * PERIOD - time.monotonic(), 0.0))

    def _show(
        self, scene: Scene, arm: ControlledArm, arms: TwoArms, colour: tuple[int, int, int],
        force: Array,
    ) -> None:
        positions = dict(zip(arm.robot.joint_names, arm.robot.motion[0], strict=True))
        scene.update(self._urdf, positions, {})
        scene.show_arrows({'force': (scene.poses[arms.link][:3, 3], force, colour)})
