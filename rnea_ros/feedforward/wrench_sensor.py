# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The way of one force-torque sensor's readings to an external wrench that never jumps.

1. A reading over a cap is refused as it comes: the range is that of the raw signal.
2. Sign: from here on, what the environment exerts on the robot.
3. In-line: what the joint above must carry for the measured motion is taken off.
4. The tare's offset is taken off.
5. The caps again, now on what is external: no more passes, whatever the model makes of a motion.
6. Low-pass, two stages. What was measured and what was predicted pass it together, and with them
   the noise of accelerations: both have the same delay.
7. Deadband: after the filter, or it would pass every other peak of the noise.
8. Gain: after the deadband, whose width is in the units of the sensor.
9. Fade: last, so that nothing holds it up.

Of a sensor with cap B, time constant T of a stage, gain g and fade F, the force (or torque) that
comes out changes by no more than g B (2 / T + 1 / F) dt within a time dt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dynamics.compiled import entry_point
from .inline_load import Cut
from .reasons import Reason
from .tare import Tare
from .wrench_filter import LowPass, add, pass_on, take_off
from .wrench_monitor import WrenchMonitor
from .wrench_settings import WrenchInputSettings

Array: TypeAlias = NDArray[np.float64]

LARGEST = 1e9
"""No robot carries more, N or N m: whatever says so, or is not a number, is not believed."""


@dataclass(frozen=True)
class Mount:
    """
    Where a sensor is.

    :param body: the number of the body in the model's tree that the wrench acts on
    :param to_body: takes a wrench from the sensor's frame to that body's, shape (6, 6)
    :param cut: what the sensor carries, None for one that does not
    """

    body: int
    to_body: Array
    cut: Cut | None


class WrenchSensor:
    """
    Turns readings into a wrench, [torque; force], that is what the environment exerts.

    :param settings: checked settings
    :param mounts: where the sensor may be, by link
    """

    def __init__(self, settings: WrenchInputSettings, mounts: Mapping[str, Mount]) -> None:
        self._settings = settings
        self._mounts = mounts
        self._low_pass = LowPass(settings.cutoff)
        self._mount: Mount | None = None
        self._link = ''
        self._running = False
        self._share = 0.0
        self._external = np.zeros(6)
        self._nothing = np.zeros(6)
        wrenches = (self._external, self._nothing)
        self._add = entry_point(add, (*wrenches, LARGEST))
        self._take_off = entry_point(take_off, (*wrenches, 0.0, 0.0))
        self._pass_on = entry_point(
            pass_on, (self._external, 0.0, 0.0, 0.0, np.zeros((6, 6)), *np.zeros((2, 6)))
        )
        self.name = settings.name
        self.monitor = WrenchMonitor(settings, mounts)
        self.tare = Tare(settings)
        self.stale = True
        self.wrench = np.zeros(6)
        self.on_body = np.zeros(6)

    @property
    def body(self) -> int | None:
        """The number of the body that the wrench acts on; None before the first reading."""
        return None if self._mount is None else self._mount.body

    def step(self, now: float, dt: float, q: Array) -> None:
        """
        Bring ``wrench``, in the sensor's frame, and ``on_body`` up to a time.

        :param now: monotonic time, s
        :param dt: time since the last call, s; 0 in the first
        :param q: joint positions, shape (nq,), rad or m
        """
        fresh = self.monitor.age(now) <= self._settings.timeout
        self._running = fresh and self._filter(now, dt, q)
        self.stale = not self._running
        if self.stale:
            self.tare.refuse(Reason.WRENCH_STALE)
        change = dt / self._settings.fade
        self._share = min(max(self._share + (-change if self.stale else change), 0.0), 1.0)
        if not fresh and self._share == 0.0:
            self.monitor.forget_frame()
        self._write()

    def _filter(self, now: float, dt: float, q: Array) -> bool:
        """Take the newest reading through the low-pass; return whether it can be believed."""
        cut = self._find_mount().cut
        external, settings = self._external, self._settings
        external[:] = self.monitor.wrench
        # A reading is what is external less what the joint above carries.
        if not self._add(external, self._nothing if cut is None else cut.carried(), LARGEST):
            return False
        self.tare.observe(now, q, external)
        self.tare.advance(now)
        self._take_off(external, self.tare.offset, settings.max_torque, settings.max_force)
        if not self._running:
            self._low_pass.start(external, keep_value=self._share > 0.0)
        self._low_pass.step(external, dt)
        return True

    def _find_mount(self) -> Mount:
        """Return where the newest reading comes from; another place has no offset yet."""
        if self._mount is None or self._link != self.monitor.link:
            self._link = self.monitor.link
            self._mount = self._mounts[self._link]
            self.tare.forget()
        return self._mount

    def _write(self) -> None:
        """Write what passes: deadband, gain and fade."""
        if self._mount is None:
            return
        settings = self._settings
        self._pass_on(
            self._low_pass.value,
            settings.deadband_torque,
            settings.deadband_force,
            settings.gain * self._share,
            self._mount.to_body,
            self.wrench,
            self.on_body,
        )
