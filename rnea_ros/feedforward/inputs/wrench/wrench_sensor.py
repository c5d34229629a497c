# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
From one force-torque sensor's readings to an external wrench without steps.

:class:`WrenchMonitor` accepts or rejects each reading as it arrives; :class:`WrenchSensor`
processes the newest valid one at every tick:

1. Readings above the sensor's range are rejected.
2. The sign is set: from here on, the wrench that the environment exerts on the robot.
3. In-line sensors: the load that the joint above must carry for the measured motion is subtracted.
4. The offset of the tare is subtracted.
5. The wrench is limited to the sensor's range, whatever load the model computed.
6. Low-pass filter in two stages. Measurement and computed load pass it together, so they have the
   same delay; and it attenuates the noise of the accelerations.
7. Deadband, after the filter: before it, single peaks of noise would pass.
8. Gain, after the deadband: the deadband's width is in the sensor's units.
9. Fade, last: nothing delays it.

With range B, time constant T of a filter stage, gain g and fade F, the force (or torque) changes
by at most g B (2 / T + 1 / F) dt in a time dt.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
import math

import numpy as np

from ....arrays import Array
from ....compilation import entry, entry_point
from ....dynamics import check_compiled_code, needs_check
from ...reasons import Reason
from ...settings import Measures, WrenchInputSettings
from ...stamps import SampleMonitor
from .inline_load import CarriedLoad
from .tare import Tare
from .wrench_filter import TwoStageLowPass, add, apply_deadbands, lengths, subtract

MAX_WRENCH = 1e9
"""Plausible wrenches are smaller, N or N m; it also excludes NaN and infinity."""


@dataclass(frozen=True)
class SensorMount:
    """
    Where a sensor is mounted.

    :param body: number of the body in the model's tree on which the wrench acts
    :param to_body: force transform from the sensor's frame to the body's, shape (6, 6)
    :param load: the load that the sensor carries, None for a contact sensor
    """

    body: int
    to_body: Array
    load: CarriedLoad | None


class WrenchSensor:
    """
    Turns readings into the wrench that the environment exerts on the robot, [torque; force].

    :param mounts: possible mounts of the sensor, by link
    :ivar link: link in whose frame the wrench is; empty before the first reading
    :ivar stale: whether readings are missing or implausible; the wrench then fades out
    :ivar external: the wrench before deadband, gain and fade, in the sensor's frame, shape (6,),
        N m and N; valid unless the sensor is stale
    :ivar wrench: the wrench in the sensor's frame, shape (6,), N m and N
    :ivar on_body: the same wrench in the body's frame, shape (6,), N m and N
    """

    def __init__(self, settings: WrenchInputSettings, mounts: Mapping[str, SensorMount]) -> None:
        self.settings = settings
        self._mounts = mounts
        self._low_pass = TwoStageLowPass(settings.cutoff)
        self.mount: SensorMount | None = None
        self.link = ''
        self._share = 0.0
        self.external = self._low_pass.value
        self._external = np.zeros(6)
        self._no_load = np.zeros(6)
        wrenches = (self._external, self._no_load)
        # Kernels of wrench_filter, without numba's dispatcher.
        self._add = entry_point(add, (*wrenches, MAX_WRENCH))
        self._subtract = entry_point(subtract, (*wrenches, 0.0, 0.0))
        self._apply_deadbands = entry_point(
            apply_deadbands, (self._external, 0.0, 0.0, 0.0, np.zeros((6, 6)), *np.zeros((2, 6)))
        )
        self.monitor = WrenchMonitor(settings, mounts)
        self.tare = Tare(settings)
        self.stale = True
        self.wrench = np.zeros(6)
        self.on_body = np.zeros(6)

    def fresh(self, now: float) -> bool:
        """Return whether the newest valid reading is younger than its timeout."""
        return self.monitor.age(now) <= self.settings.timeout

    def advance(self, now: float, dt: float) -> None:
        """Advance ``wrench`` and ``on_body``; once a tick, with a dt of 0 in the first."""
        fresh = self.fresh(now)
        self.stale = not (fresh and self._filter(now, dt))
        if self.stale:
            self.tare.reject(Reason.WRENCH_STALE)
        change = dt / self.settings.fade
        self._share = min(max(self._share + (-change if self.stale else change), 0.0), 1.0)
        if not fresh and self._share == 0.0:
            self.monitor.reset_link()
        if self.mount is not None:
            settings = self.settings
            self._apply_deadbands(
                self._low_pass.value, settings.deadband_torque, settings.deadband_force,
                settings.gain * self._share, self.mount.to_body, self.wrench, self.on_body,
            )

    def _filter(self, now: float, dt: float) -> bool:
        """Filter the newest reading; return whether it is plausible."""
        if self.mount is None or self.link != self.monitor.link:
            self.link = self.monitor.link
            self.mount = self._mounts[self.link]
            self.tare.mount(self.link)
        load = self.mount.load
        external, settings = self._external, self.settings
        external[:] = self.monitor.wrench
        # reading = external wrench - load of the joint above
        if not self._add(external, self._no_load if load is None else load.wrench(), MAX_WRENCH):
            return False
        self.tare.average(now, external)
        self.tare.advance(now)
        self._subtract(external, self.tare.offset, settings.max_torque, settings.max_force)
        if self.stale:
            self._low_pass.start(external, keep_value=self._share > 0.0)
        self._low_pass.advance(external, dt)
        return True


FINE, NOT_FINITE, OVER_CAP = range(3)
"""Results of the check of a reading."""

_REASONS = {NOT_FINITE: Reason.NOT_FINITE, OVER_CAP: Reason.OVER_CAP}


class WrenchMonitor(SampleMonitor):
    """
    Accepts or rejects readings of one sensor.

    :param links: links that a reading's frame may be
    :ivar link: link in whose frame the readings are; empty before the first
    :ivar wrench: the newest valid reading, [torque; force] that the environment exerts on the
        robot, shape (6,), N m and N
    """

    def __init__(self, settings: WrenchInputSettings, links: Container[str]) -> None:
        super().__init__()
        self._settings = settings
        self._links = links
        self._sign = 1.0 if settings.measures is Measures.ENVIRONMENT_ON_ROBOT else -1.0
        self._reading = np.zeros(6)
        # The kernel below; numba's dispatcher would add 0.2 us to each call.
        self._judge_reading = entry_point(
            _judge_reading, (*np.zeros((2, 3)), 0.0, 0.0, 0.0, self._reading)
        )
        _reject_blind(self._judge_reading)
        self.link = settings.link
        self.wrench = np.zeros(6)

    def reset_link(self) -> None:
        """Accept another frame in the next reading, unless the settings name a link."""
        self.link = self._settings.link

    def take_sample(
        self, frame_id: str, force: Array, torque: Array,
        *, stamp: float, clock: float, received: float,
    ) -> Reason | None:
        """
        Accept a reading, or return why it is rejected as a whole.

        :param frame_id: frame of its header; ignored if the settings name a link
        :param force: x, y, z in the sensor's frame, shape (3,), contiguous, N
        :param torque: x, y, z in the sensor's frame, about its origin, contiguous, N m
        """
        reason = self._check_frame(frame_id) or self._read(force, torque)
        reason = self._register(reason, stamp, clock, received)
        if reason is None:
            self.link = self.link or frame_id
            self.wrench[:] = self._reading
        return reason

    def _check_frame(self, frame_id: str) -> Reason | None:
        settings = self._settings
        if not settings.link and frame_id not in self._links:
            return Reason.UNKNOWN_FRAME
        if not settings.link and self.link not in ('', frame_id):
            return Reason.FRAME_CHANGED
        return None

    def _read(self, force: Array, torque: Array) -> Reason | None:
        """Write the reading into ``_reading``; return why it is rejected, None if it is valid."""
        settings = self._settings
        verdict = self._judge_reading(
            force, torque, self._sign, settings.max_force, settings.max_torque, self._reading
        )
        return None if verdict == FINE else _REASONS[verdict]


def _reject_blind(judge: Callable[..., int]) -> None:
    """Check before its first use that the compiled kernel detects NaN and infinity."""
    name = 'judge_wrenches'
    if needs_check(name):
        force, torque, wrench = np.zeros(3), np.zeros(3), np.zeros(6)
        reading = (force, torque, 1.0, math.inf, math.inf, wrench)
        check_compiled_code(name, lambda: judge(*reading) == FINE, force, torque)


@entry
def _judge_reading(
    force: Array, torque: Array, sign: float, max_force: float, max_torque: float, wrench: Array
) -> int:
    """Write [torque; force] times the sign; return the result of the check."""
    for k in range(3):
        wrench[k], wrench[3 + k] = sign * torque[k], sign * force[k]
    for k in range(6):
        if not math.isfinite(wrench[k]):
            return NOT_FINITE
    about, along = lengths(wrench)
    return OVER_CAP if along > max_force or about > max_torque else FINE
