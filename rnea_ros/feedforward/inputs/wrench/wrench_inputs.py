# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
All force-torque sensors of a robot: readings in, joint efforts of the external forces out.

One thread gives readings to the sensors' monitors, and calls :meth:`WrenchInputs.tare` and
:meth:`WrenchInputs.advance`. What other threads read is replaced, never changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array
from ....compilation import entry
from ....dynamics import Workspace
from ....dynamics.kernels import BASE, kinematics
from ....robot import RobotModel
from ...law import LoadedBodies
from ...reasons import Reason
from ...settings import PublishFrame, SensorPlacement, WrenchInputSettings
from .inline_load import InlineLoad, force_transform
from .tare import TareOffsets
from .wrench_sensor import SensorMount, WrenchSensor

NO_FLAGS: frozenset[Reason] = frozenset()
STALE = frozenset((Reason.WRENCH_STALE,))


class WrenchInputs:
    """
    The force-torque sensors of one robot.

    :ivar settings: settings of the sensors
    :ivar sensors: the sensors by name
    :ivar stale: names of the sensors without current readings
    :ivar tares: number of tares that were begun
    """

    def __init__(self, model: RobotModel, inputs: Sequence[WrenchInputSettings]) -> None:
        self.settings = tuple(inputs)
        self._now = math.inf
        self._q = np.zeros(model.nq)
        self._qd, self._qdd = np.zeros(model.nv), np.zeros(model.nv)
        self._load, mounts = _mounts(model, inputs)
        self.sensors = {
            sensor.name: WrenchSensor(sensor, mounts[sensor.name]) for sensor in inputs
        }
        # Without gravity, its efforts are those of the external forces.
        self._weightless = Workspace(model.tree, np.zeros(3))
        self._root_link = model.link_names[0]
        in_root = any(sensor.publish_frame is PublishFrame.BASE for sensor in inputs)
        self._on_body, self._on_root = np.zeros((2, 6))
        if in_root:
            self._in_root_frame(1, np.eye(6), np.zeros(6))  # compiles before the loop starts
        self.stale: tuple[str, ...] = tuple(self.sensors)
        self.tares = 0

    @property
    def rejections(self) -> Counter[Reason]:
        """Number of rejected readings of all sensors, by reason."""
        return sum((s.monitor.rejections for s in self.sensors.values()), Counter())

    @property
    def flags(self) -> frozenset[Reason]:
        """Raised flags; ``stale`` names the sensors."""
        return STALE if self.stale else NO_FLAGS

    @property
    def loaded_bodies(self) -> tuple[LoadedBodies, ...]:
        """Bodies whose payloads load the in-line sensors."""
        return () if self._load is None else (self._load.loaded_bodies,)

    @property
    def taring(self) -> bool:
        """Whether a tare is averaging."""
        return any(sensor.tare.averaging for sensor in self.sensors.values())

    @property
    def tare_rejections(self) -> dict[str, Reason]:
        """Why sensors rejected the last tare, by name; without the sensors that accepted it."""
        rejections = {name: sensor.tare.rejection for name, sensor in self.sensors.items()}
        return {name: reason for name, reason in rejections.items() if reason is not None}

    def use_offsets(self, offsets: TareOffsets) -> None:
        """Go on with the tares of another control, and write new ones there; before a reading."""
        for sensor in self.sensors.values():
            sensor.tare.kept = offsets

    def tare(self, now: float) -> None:
        """Begin a tare of every sensor; see ``taring`` and ``tare_rejections``."""
        for sensor in self.sensors.values():
            sensor.tare.begin(now)
        self.tares += 1

    def reject_tare(self, reason: Reason) -> None:
        """Reject a tare in progress."""
        for sensor in self.sensors.values():
            sensor.tare.reject(reason)

    def advance(self, now: float, q: Array, qd: Array) -> None:
        """Advance all wrenches; once a tick, after the readings."""
        dt = max(now - self._now, 0.0)
        self._now = now
        self._q[:] = q
        if self._load is not None:
            with np.errstate(all='ignore'):  # sensors reject a load that is not finite
                self._load.move(q, qd, self._acceleration(qd, dt))
        for sensor in self.sensors.values():
            sensor.advance(now, dt)
        self.stale = tuple([name for name, sensor in self.sensors.items() if sensor.stale])

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """Set the motion of the base; see :meth:`.Workspace.set_base_motion`."""
        if self._load is not None:
            self._load.set_base(gravity, velocity, acceleration)

    def efforts(self, q: Array) -> Array:
        """Return -J^T f for the external forces f, shape (nv,), N m or N; overwritten."""
        workspace = self._weightless
        workspace.clear_external_forces()
        for sensor in self.sensors.values():
            if sensor.mount is not None:
                workspace.external_forces[sensor.mount.body] += sensor.on_body
        return workspace.gravity_torques(q)

    def external_wrench(self, name: str, now: float) -> tuple[str, Array] | None:
        """
        Return the wrench of the environment on the robot, and the link in whose frame it is.

        Load and tare are subtracted, and the low-pass filter has passed; deadband, gain and fade,
        which are for the command, are left out. The torque is about the origin of the frame.

        :return: link and [torque; force], shape (6,), N m and N; None if the sensor is stale, or
            if there was no step at this time; the next call overwrites it
        """
        sensor = self.sensors[name]
        if sensor.stale or now != self._now:
            return None
        if sensor.settings.publish_frame is PublishFrame.SENSOR:
            return sensor.link, sensor.external
        assert sensor.mount is not None
        mount = sensor.mount
        return self._root_link, self._in_root_frame(mount.body, mount.to_body, sensor.external)

    def _in_root_frame(self, body: int, to_body: Array, wrench: Array) -> Array:
        """Return a body's [torque; force] in the root link's frame and origin; overwritten."""
        kinematics.place_bodies(self._weightless.bodies, self._q)
        np.matmul(to_body, wrench, out=self._on_body)
        _to_root(self._weightless.bodies, body, self._on_body, self._on_root)
        return self._on_root

    def _acceleration(self, qd: Array, dt: float) -> Array:
        """Return the difference quotient of a tick; its mean is right for irregular ticks too."""
        if dt > 0.0:
            np.subtract(qd, self._qd, out=self._qdd)
            self._qdd /= dt
        self._qd[:] = qd
        return self._qdd


def _mounts(
    model: RobotModel, inputs: Sequence[WrenchInputSettings]
) -> tuple[InlineLoad | None, dict[str, dict[str, SensorMount]]]:
    """Return the load of the in-line sensors, and each sensor's mounts by name and link."""
    moved = [name for name in model.link_names if model.tree.frames[name].body != BASE]
    links = {sensor.name: [sensor.link] if sensor.link else moved for sensor in inputs}
    inline = [sensor.name for sensor in inputs if sensor.placement is SensorPlacement.INLINE]
    load = InlineLoad(model, {link for name in inline for link in links[name]}) if inline else None
    mounts = {
        name: {link: _mount(model, link, load if name in inline else None) for link in among}
        for name, among in links.items()
    }
    return load, mounts


def _mount(model: RobotModel, link: str, load: InlineLoad | None) -> SensorMount:
    frame = model.tree.frames[link]
    carried = None if load is None else load.at(link)
    return SensorMount(frame.body, force_transform(frame.placement), carried)


@entry
def _to_root(bodies: NDArray[np.void], body: int, on_body: Array, on_root: Array) -> None:
    """Write f = R f_body and n = R n_body + p x f, with the pose R, p of the body's frame."""
    R, p = bodies[body]['R'], bodies[body]['p']
    for row in range(3):
        n = f = 0.0
        for k in range(3):
            n += R[row, k] * on_body[k]
            f += R[row, k] * on_body[3 + k]
        on_root[row], on_root[3 + row] = n, f
    on_root[0] += p[1] * on_root[5] - p[2] * on_root[4]
    on_root[1] += p[2] * on_root[3] - p[0] * on_root[5]
    on_root[2] += p[0] * on_root[4] - p[1] * on_root[3]
