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

from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
import math

import numpy as np

from ....arrays import Array
from ....dynamics import refuse_blind_code, untried
from ....dynamics.compilation import entry, entry_point
from ...reasons import Reason
from ...settings import Measures, WrenchInputSettings
from ...stamps import SINGLE, StampOrder
from .filter import LowPass, add, lengths, pass_on, take_off
from .inline_load import Cut
from .tare import Tare

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


FINE, NOT_FINITE, OVER_CAP = range(3)
"""What a look at the numbers of a reading tells."""

_REFUSALS = {NOT_FINITE: Reason.NOT_FINITE, OVER_CAP: Reason.OVER_CAP}


class WrenchMonitor:
    """
    Takes readings, or refuses them whole and counts why.

    :param settings: of the sensor
    :param links: names of the links that a reading's frame may be
    """

    def __init__(self, settings: WrenchInputSettings, links: Container[str]) -> None:
        self._settings = settings
        self._links = links
        self._sign = 1.0 if settings.measures is Measures.ENVIRONMENT_ON_ROBOT else -1.0
        self._stamps = StampOrder(1)
        self._reading = np.zeros(6)
        self._judge = entry_point(
            _judge, (*np.zeros((2, 3)), 0.0, 0.0, 0.0, self._reading)
        )
        _refuse_blind(self._judge)
        self._received = -math.inf
        self.link = settings.link
        self.wrench = np.zeros(6)
        self.rejections: Counter[Reason] = Counter()

    def age(self, now: float) -> float:
        """
        Return how long ago the newest reading came, s; infinite before the first.

        :param now: monotonic time, s
        """
        return now - self._received

    def forget_frame(self) -> None:
        """Let the next reading's frame be another link, where the settings name none."""
        self.link = self._settings.link

    def update(
        self,
        frame_id: str,
        force: Array,
        torque: Array,
        *,
        stamp: float,
        clock: float,
        received: float,
    ) -> Reason | None:
        """
        Take a reading, or refuse it whole.

        :param frame_id: of its header; not looked at where the settings name a link
        :param force: x, y, z in the sensor's frame, shape (3,), contiguous, N
        :param torque: x, y, z in the sensor's frame, about its origin, likewise, N m
        :param stamp: the reading's own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :return: why it was refused, None where it was taken
        """
        reason = self._frame_refusal(frame_id) or self._read(force, torque)
        if stamp:
            reason = reason or self._stamps.check(SINGLE, stamp, clock, received)
        if reason is not None:
            self.refuse(reason)
            return reason
        self.link = self.link or frame_id
        self._received = received
        if stamp:
            self._stamps.accept(SINGLE, stamp, received)
        self.wrench[:] = self._reading
        return None

    def refuse(self, reason: Reason) -> None:
        """Count a refusal."""
        # Replaced, not changed: another thread may be reading it.
        self.rejections = self.rejections + Counter((reason,))

    def _frame_refusal(self, frame_id: str) -> Reason | None:
        settings = self._settings
        if not settings.link and frame_id not in self._links:
            return Reason.UNKNOWN_FRAME
        if not settings.link and self.link not in ('', frame_id):
            return Reason.FRAME_CHANGED
        return None

    def _read(self, force: Array, torque: Array) -> Reason | None:
        """Write what the environment exerts into ``_reading``; return why it cannot be used."""
        settings = self._settings
        verdict = self._judge(
            force, torque, self._sign, settings.max_force, settings.max_torque, self._reading
        )
        return None if verdict == FINE else _REFUSALS[verdict]


def _refuse_blind(judge: Callable[..., int]) -> None:
    """Try the kernel on a reading before it is used."""
    name = 'judge_wrenches'
    if untried(name):
        force, torque, wrench = np.zeros(3), np.zeros(3), np.zeros(6)
        reading = (force, torque, 1.0, math.inf, math.inf, wrench)
        refuse_blind_code(name, lambda: judge(*reading) == FINE, force, torque)


@entry
def _judge(
    force: Array, torque: Array, sign: float, max_force: float, max_torque: float, wrench: Array
) -> int:
    """Write [torque; force] times the sign; return what is wrong with it."""
    for k in range(3):
        wrench[k], wrench[3 + k] = sign * torque[k], sign * force[k]
    for k in range(6):
        if not math.isfinite(wrench[k]):
            return NOT_FINITE
    about, along = lengths(wrench)
    return OVER_CAP if along > max_force or about > max_torque else FINE
