# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
All force-torque sensors of a robot: readings in, external forces on bodies out.

Time is passed in. One thread calls :meth:`WrenchInputs.update`, :meth:`WrenchInputs.tare` and
:meth:`WrenchInputs.step`; what others may read is replaced, not changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
import math

import numpy as np

from ....arrays import Array
from ....dynamics import Workspace
from ....dynamics.kernels import BASE
from ....robot import RobotModel
from ...law import Shares
from ...reasons import Reason
from ...settings import SensorPlacement, WrenchInputSettings, check_wrench_inputs
from .inline_load import InlineLoad, force_transform
from .sensor import Mount, WrenchSensor

NONE: frozenset[Reason] = frozenset()
STALE = frozenset((Reason.WRENCH_STALE,))


class WrenchInputs:
    """
    The sensors' wrenches on one robot.

    :param model: the robot
    :param inputs: the sensors
    :raises InputError: the first parameter that cannot be used
    :ivar stale: the sensors whose readings stay away
    :ivar tares: how many tares were begun
    """

    def __init__(self, model: RobotModel, inputs: Sequence[WrenchInputSettings]) -> None:
        check_wrench_inputs(inputs, model)
        self._settings = tuple(inputs)
        self._now = math.inf
        self._qd, self._qdd = np.zeros(model.nv), np.zeros(model.nv)
        self._load, mounts = _mounts(model, inputs)
        self._sensors = {
            sensor.name: WrenchSensor(sensor, mounts[sensor.name]) for sensor in inputs
        }
        # Nothing weighs anything here: what external forces ask of the joints is all there is.
        self._weightless = Workspace(model.tree, np.zeros(3))
        self.stale: tuple[str, ...] = tuple(self._sensors)
        self.tares = 0

    @property
    def settings(self) -> tuple[WrenchInputSettings, ...]:
        """The sensors."""
        return self._settings

    @property
    def rejections(self) -> Counter[Reason]:
        """How often readings of all sensors were refused, by reason."""
        return sum((s.monitor.rejections for s in self._sensors.values()), Counter())

    @property
    def flags(self) -> frozenset[Reason]:
        """What is wrong while the control goes on; ``stale`` names the sensors."""
        return STALE if self.stale else NONE

    @property
    def taring(self) -> bool:
        """Whether a tare still averages."""
        return any(sensor.tare.averaging for sensor in self._sensors.values())

    @property
    def tare_refusals(self) -> dict[str, Reason]:
        """Why sensors refused the last tare, by name; those that took it are not there."""
        refusals = {name: sensor.tare.refusal for name, sensor in self._sensors.items()}
        return {name: reason for name, reason in refusals.items() if reason is not None}

    def update(
        self,
        name: str,
        frame_id: str,
        force: Array,
        torque: Array,
        *,
        stamp: float,
        clock: float,
        received: float,
    ) -> Reason | None:
        """
        Take a sensor's reading, or refuse it whole.

        :param name: of the sensor
        :param frame_id: of the reading's header
        :param force: x, y, z in the sensor's frame, shape (3,), contiguous, N
        :param torque: x, y, z in the sensor's frame, about its origin, likewise, N m
        :param stamp: the reading's own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :return: why it was refused, None where it was taken
        """
        return self._sensors[name].monitor.update(
            frame_id, force, torque, stamp=stamp, clock=clock, received=received
        )

    def refuse(self, name: str, reason: Reason) -> None:
        """Count a refusal of a sensor's reading."""
        self._sensors[name].monitor.refuse(reason)

    def tare(self, now: float, q: Array) -> None:
        """
        Let every sensor take for its offset what it reads unloaded from now on.

        It takes the longest ``tare_duration``; ``taring`` tells when it is over, and
        ``tare_refusals`` what came of it.

        :param now: monotonic time, s
        :param q: measured joint positions, shape (nq,), rad or m
        """
        for sensor in self._sensors.values():
            sensor.tare.begin(now, q)
        self.tares += 1

    def step(self, now: float, q: Array, qd: Array) -> None:
        """
        Bring all wrenches up to a time; once a tick, after the readings were taken.

        :param now: monotonic time, s
        :param q: measured joint positions, shape (nq,), rad or m
        :param qd: measured joint velocities, shape (nv,), rad/s or m/s
        """
        dt = max(now - self._now, 0.0)
        self._now = now
        if self._load is not None:
            with np.errstate(all='ignore'):  # sensors look at what comes of such numbers
                self._load.move(q, qd, self._acceleration(qd, dt))
        for sensor in self._sensors.values():
            sensor.step(now, dt, q)
        self.stale = tuple([name for name, sensor in self._sensors.items() if sensor.stale])

    def set_payloads(self, shares: Shares) -> None:
        """
        Let payloads be carried instead of those before: in-line sensors weigh them.

        :param shares: payloads on links of the robot, and their shares
        """
        if self._load is not None:
            self._load.set_payloads(shares)

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """Set how the base moves, as :meth:`Workspace.set_base_motion` has it."""
        if self._load is not None:
            self._load.set_base(gravity, velocity, acceleration)

    def put_on(self, workspace: Workspace) -> None:
        """
        Set the external forces of a workspace of the model: its efforts then include them.

        :param workspace: of the same tree; external forces that it had are forgotten
        """
        workspace.clear_external_forces()
        for sensor in self._sensors.values():
            if sensor.body is not None:
                workspace.external_forces[sensor.body] += sensor.on_body

    def efforts(self, q: Array) -> Array:
        """
        Return -J^T f_ext, what the wrenches add to the efforts of any motion; overwritten.

        :param q: joint positions, shape (nq,), rad or m
        :return: shape (nv,), N m or N
        """
        self.put_on(self._weightless)
        return self._weightless.gravity_torques(q)

    def wrench(self, name: str) -> Array:
        """
        Return a sensor's external wrench, [torque; force] in its frame, N m and N.

        :param name: of the sensor
        """
        return self._sensors[name].wrench.copy()

    def _acceleration(self, qd: Array, dt: float) -> Array:
        """
        Return the quotient of the change of velocity in a tick.

        Its noise passes the low-pass with the readings, and its average is right however ticks
        are timed, even where velocities come more rarely than ticks.
        """
        if dt > 0.0:
            np.subtract(qd, self._qd, out=self._qdd)
            self._qdd /= dt
        self._qd[:] = qd
        return self._qdd


def _mounts(
    model: RobotModel, inputs: Sequence[WrenchInputSettings]
) -> tuple[InlineLoad | None, dict[str, dict[str, Mount]]]:
    """Return what in-line sensors carry, and where each sensor may be, by name and link."""
    moved = [name for name in model.link_names if model.tree.frames[name].body != BASE]
    links = {sensor.name: [sensor.link] if sensor.link else moved for sensor in inputs}
    inline = [
        sensor.name for sensor in inputs if sensor.placement is SensorPlacement.INLINE
    ]
    load = InlineLoad(model, {link for name in inline for link in links[name]}) if inline else None
    mounts = {
        name: {link: _mount(model, link, load if name in inline else None) for link in among}
        for name, among in links.items()
    }
    return load, mounts


def _mount(model: RobotModel, link: str, load: InlineLoad | None) -> Mount:
    frame = model.tree.frames[link]
    cut = None if load is None else load.cut(link)
    return Mount(frame.body, force_transform(frame.placement), cut)
