# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Force-torque sensors: readings in, joint efforts of the external forces out.

:class:`WrenchMonitor` accepts or rejects each reading as it arrives; :class:`WrenchSensor`
processes the newest valid one at every tick, so that the wrench never steps:

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
by at most g B (2 / T + 1 / F) dt in a time dt. :class:`WrenchInputs` adds up -J^T f.

A wrench is [torque; force], shape (6,), N m and N; limits and deadbands keep both directions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
import math
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..compilation import compiled, kernel
from ..dynamics import Workspace, require_nan_detection
from ..dynamics.kernels import BASE, Records
from ..dynamics.kernels.joints import add_joint_efforts, joint_transform
from ..dynamics.kernels.spatial import add, load, scale, store, subtract, transform_force_back
from ..dynamics.kernels.vectors import Vector3, load3, load33, scale3
from ..dynamics.tree import KinematicTree, with_separate_bodies
from ..robot import RobotModel
from .loaded_model import LoadedBodies
from .reasons import Reason
from .settings import Measures, PublishFrame, SensorPlacement, WrenchInputSettings
from .stamps import SampleMonitor
from .tare import Tare, TareOffsets

MAX_WRENCH = 1e9  # plausible wrenches are smaller, N or N m; excludes NaN and infinity


class WrenchInputs:
    """
    The force-torque sensors of one robot.

    One thread gives readings to the sensors' monitors, and calls :meth:`tare` and :meth:`advance`.
    What other threads read is replaced, never changed.

    :ivar loaded_bodies: bodies whose payloads load the in-line sensors
    :ivar stale: names of the sensors without current readings
    :ivar tares: number of tares that were begun
    """

    def __init__(self, model: RobotModel, inputs: Sequence[WrenchInputSettings]) -> None:
        self.settings = tuple(inputs)
        tree = model.tree
        moved = [name for name in model.link_names if tree.frames[name].body != BASE]
        links = {sensor.name: [sensor.link] if sensor.link else moved for sensor in inputs}
        inline = [s.name for s in inputs if s.placement is SensorPlacement.INLINE]
        # The load is the force through a joint in RNEA: each link behind one is a body of its own.
        load_tree = with_separate_bodies(tree, {link for name in inline for link in links[name]})
        self._load: Workspace | None = None
        self.loaded_bodies: tuple[LoadedBodies, ...] = ()
        if inline:
            self._load = Workspace(load_tree, model.gravity)
            self._load.set_base_motion(model.gravity, *model.base_motion.spatial())
            self.loaded_bodies = (LoadedBodies(self._load, load_tree),)
        self.sensors: dict[str, WrenchSensor] = {}
        for sensor in inputs:
            rnea = self._load if sensor.name in inline else None
            mounts = {link: _mount(tree, link, load_tree, rnea) for link in links[sensor.name]}
            self.sensors[sensor.name] = WrenchSensor(sensor, mounts)
        self._bodies = tree.bodies
        self._now, self._q = math.inf, np.zeros(model.nq)
        self._qd, self._qdd, self._efforts = np.zeros((3, model.nv))
        self._root_link, self._on_base = model.link_names[0], np.zeros(6)
        self.efforts(self._q)  # compiles the kernel before the loop starts
        self.stale: tuple[str, ...] = tuple(self.sensors)
        self.tares = 0

    @property
    def rejections(self) -> Counter[Reason]:
        """Number of rejected readings of all sensors, by reason."""
        return sum((s.monitor.rejections for s in self.sensors.values()), Counter())

    @property
    def taring(self) -> bool:
        """Whether a tare is averaging."""
        return bool(self.sensors) and any(s.tare.averaging for s in self.sensors.values())

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

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """Set the motion of the base; see :meth:`.Workspace.set_base_motion`."""
        if self._load is not None:
            self._load.set_base_motion(gravity, velocity, acceleration)

    def advance(self, now: float, q: Array, qd: Array) -> None:
        """Advance all wrenches; once a tick, after the readings."""
        dt = max(now - self._now, 0.0)
        self._now = now
        self._q[:] = q
        if self._load is not None:
            with np.errstate(all='ignore'):  # sensors reject a load that is not finite
                if dt > 0.0:  # the mean of difference quotients is right for irregular ticks too
                    np.subtract(qd, self._qd, out=self._qdd)
                    self._qdd /= dt
                self._qd[:] = qd
                self._load.inverse_dynamics(q, qd, self._qdd)
        for sensor in self.sensors.values():
            sensor.advance(now, dt)
        self.stale = tuple([name for name, sensor in self.sensors.items() if sensor.stale])

    def efforts(self, q: Array) -> Array:
        """Return -J^T f for the external forces f, shape (nv,), N m or N; overwritten."""
        self._efforts[:] = 0.0
        for sensor in self.sensors.values():
            self._carry(sensor.mount, q, sensor.wrench, self._efforts)
        return self._efforts

    def external_wrench(self, name: str, now: float) -> tuple[str, Array] | None:
        """
        Return the wrench of the environment on the robot, and the link in whose frame it is.

        It is filtered; deadband, gain and fade are for the command. None if the sensor is stale,
        or without a step at this time; the next step may overwrite it.
        """
        sensor = self.sensors[name]
        if sensor.stale or now != self._now:
            return None
        if sensor.settings.publish_frame is PublishFrame.SENSOR:
            return sensor.link, sensor.external
        self._carry(sensor.mount, self._q, sensor.external, np.zeros_like(self._efforts))
        return self._root_link, self._on_base.copy()

    def _carry(self, mount: SensorMount, q: Array, wrench: Array, efforts: Array) -> None:
        """Subtract J^T f from efforts; write the wrench in the base's frame."""
        _carry_to_base(self._bodies, mount.body, mount.frame, q, wrench, efforts, self._on_base)


class SensorMount(NamedTuple):
    """Where a sensor is mounted; bodies and frames as in :attr:`.KinematicTree.link_frames`."""

    body: int  # on which the wrench acts
    frame: Array  # the sensor's frame on it
    carried: Array  # wrench of the joint above on a body of the load's tree; zero without a load
    carrier: Array  # that body's frame in the sensor's


def _mount(
    tree: KinematicTree, link: str, load_tree: KinematicTree, rnea: Workspace | None
) -> SensorMount:
    """Return a sensor's mount on a link; contact sensors have no load."""
    frame = load_tree.frames[link]
    carried = np.zeros(6) if rnea is None else rnea.bodies[frame.body]['f']
    inverse = frame.placement.inverse()
    carrier = np.array([*inverse.rotation.T, inverse.translation])
    return SensorMount(*tree.link_frames[link], carried, carrier)


class WrenchSensor:
    """
    Turns readings into the wrench that the environment exerts on the robot, in the sensor's frame.

    :param mounts: possible mounts of the sensor, by link
    :ivar mount: the mount; any of them before the first reading
    :ivar link: link of the mount; empty before the first reading
    :ivar stale: whether readings are missing or implausible; the wrench then fades out
    :ivar external: the wrench before deadband, gain and fade; valid unless the sensor is stale
    :ivar wrench: the wrench
    """

    def __init__(self, settings: WrenchInputSettings, mounts: Mapping[str, SensorMount]) -> None:
        self.settings = settings
        self.monitor = WrenchMonitor(settings, mounts)
        self.tare = Tare(settings)
        self._mounts = mounts
        self.mount = next(iter(mounts.values()))
        self.link = ''
        # Together both stages pass half of the power at the cutoff, where 1 + (w T)^2 = sqrt(2).
        cutoff = 2.0 * math.pi * settings.cutoff
        self._time_constant = math.sqrt(math.sqrt(2.0) - 1.0) / cutoff
        self._limits = np.array([
            settings.max_torque, settings.max_force,
            settings.deadband_torque, settings.deadband_force,
        ])
        self._share = 0.0
        self._with_offset, self._first_stage, self.external, self.wrench = np.zeros((4, 6))
        self.stale = True
        self._subtract_load()  # compiles the kernels before the loop starts
        self.advance(0.0, 0.0)

    def fresh(self, now: float) -> bool:
        """Return whether the newest valid reading is younger than its timeout."""
        return self.monitor.age(now) <= self.settings.timeout

    def advance(self, now: float, dt: float) -> None:
        """Advance ``wrench``; once a tick, with a dt of 0 in the first."""
        fresh = self.fresh(now)
        if fresh and self.link != self.monitor.link:
            self.link = self.monitor.link
            self.mount = self._mounts[self.link]
            self.tare.mount(self.link)
        plausible = fresh and self._subtract_load()
        if plausible:
            self.tare.average(now, self._with_offset)
            self.tare.advance(now)
        else:
            self.tare.reject(Reason.WRENCH_STALE)
        restarts, shows = self.stale, self._share > 0.0
        self.stale = not plausible
        change = dt / self.settings.fade
        self._share = min(max(self._share + (change if plausible else -change), 0.0), 1.0)
        _advance_wrench(
            self._with_offset, self.tare.offset, self._limits, plausible, restarts, shows,
            dt / self._time_constant, self.settings.gain * self._share, self._first_stage,
            self.external, self.wrench,
        )
        if not fresh and self._share == 0.0:
            self.monitor.link = self.settings.link  # without one, the next frame may be another

    def _subtract_load(self) -> bool:
        """Subtract the load of the newest reading; return whether the rest is plausible."""
        reading, mount = self.monitor.wrench, self.mount
        return bool(_subtract_load(reading, mount.carried, mount.carrier, self._with_offset))


FINE, NOT_FINITE, OVER_CAP = range(3)  # results of the check of a reading
_REASONS = (None, Reason.NOT_FINITE, Reason.OVER_CAP)


class WrenchMonitor(SampleMonitor):
    """
    Accepts or rejects readings of one sensor.

    :param links: links that a reading's frame may be
    :ivar link: link in whose frame the readings are; empty before the first
    :ivar wrench: the newest valid reading, with the sign of what the environment exerts
    """

    def __init__(self, settings: WrenchInputSettings, links: Container[str]) -> None:
        super().__init__()
        force, torque, wrench = np.zeros(3), np.zeros(3), np.zeros(6)
        reading = (force, torque, 1.0, math.inf, math.inf, wrench)
        require_nan_detection(
            'judge_wrenches', lambda: _check_reading(*reading) == FINE, force, torque
        )
        self._settings = settings
        self._links = links
        self._sign = 1.0 if settings.measures is Measures.ENVIRONMENT_ON_ROBOT else -1.0
        self.link = settings.link
        self._reading, self.wrench = np.zeros((2, 6))

    def take_sample(
        self, frame_id: str, force: Array, torque: Array,
        *, stamp: float, clock: float, received: float,
    ) -> Reason | None:
        """
        Accept a reading, or return why it is rejected as a whole.

        :param frame_id: frame of its header; ignored if the settings name a link
        :param force: x, y, z in the sensor's frame, shape (3,), contiguous; torque likewise
        """
        settings = self._settings
        if not settings.link and frame_id not in self._links:
            reason: Reason | None = Reason.UNKNOWN_FRAME
        elif not settings.link and self.link not in ('', frame_id):
            reason = Reason.FRAME_CHANGED
        else:
            reason = _REASONS[_check_reading(
                force, torque, self._sign, settings.max_force, settings.max_torque, self._reading
            )]
        reason = self._register(reason, stamp, clock, received)
        if reason is None:
            self.link = self.link or frame_id
            self.wrench[:] = self._reading
        return reason


@kernel
def _check_reading(
    force: Array, torque: Array, sign: float, max_force: float, max_torque: float, wrench: Array
) -> int:
    """Write [torque; force] times the sign; return the result of the check."""
    store(wrench, scale(sign, (load3(torque), load3(force))))
    for x in wrench:
        if not math.isfinite(x):
            return NOT_FINITE
    about, along = load(wrench)
    return OVER_CAP if _length(along) > max_force or _length(about) > max_torque else FINE


@kernel
def _subtract_load(reading: Array, carried: Array, carrier: Array, external: Array) -> bool:
    """Write reading - load; return whether it is plausible."""
    # The joint above exerts minus the load.
    by_joint = transform_force_back(load33(carrier), load3(carrier[3]), load(carried))
    torque, force = add(load(reading), by_joint)
    store(external, (torque, force))
    return _length(torque) <= MAX_WRENCH and _length(force) <= MAX_WRENCH


@kernel
def _advance_wrench(
    with_offset: Array, offset: Array, limits: Array, plausible: bool, restarts: bool, shows: bool,
    s: float, share: float, first: Array, external: Array, wrench: Array,
) -> None:
    """
    Do steps 4 to 9 for a plausible reading; without one, steps 7 to 9 for the wrench before.

    Each of two equal low-pass stages in series is T y' = u - y. The step s = dt / T is exact for
    an input that is constant in it: for any dt, the output stays within the range of the input,
    and its slope is continuous. They restart from the input, or with the output if it shows.
    """
    if plausible:
        torque, force = subtract(load(with_offset), load(offset))
        u = (_limited(torque, limits[0]), _limited(force, limits[1]))
        if restarts:
            store(first, u)
            if not shows:
                store(external, u)
        # Distances to the input become e_1 = exp(-s) e_1 and e_2 = exp(-s) (e_2 + s e_1).
        left = math.exp(-s)
        e_1, e_2 = subtract(load(first), u), subtract(load(external), u)
        store(first, add(u, scale(left, e_1)))
        store(external, add(u, scale(left, add(e_2, scale(s, e_1)))))
    torque, force = load(external)
    store(wrench, (
        scale3(_share_beyond(torque, limits[2]), scale3(share, torque)),
        scale3(_share_beyond(force, limits[3]), scale3(share, force)),
    ))


@kernel
def _carry_to_base(
    bodies: Records, body: int, frame: Array, q: Array, wrench: Array, efforts: Array,
    on_base: Array,
) -> None:
    """Subtract J^T f from efforts (eq. 5.11, 5.20); write the same wrench in the base's frame."""
    f = transform_force_back(load33(frame), load3(frame[3]), load(wrench))
    while body != BASE:
        add_joint_efforts(bodies[body], scale(-1.0, f), efforts)
        E, r = joint_transform(bodies[body], q)
        f = transform_force_back(E, r, f)
        body = bodies[body]['parent']
    store(on_base, f)


@compiled
def _length(a: Vector3) -> float:
    return math.hypot(math.hypot(a[0], a[1]), a[2])


@compiled
def _limited(a: Vector3, longest: float) -> Vector3:
    """Return a vector, shortened if it is longer than a limit."""
    length = _length(a)
    return scale3(longest / length if length > longest else 1.0, a)


@compiled
def _share_beyond(a: Vector3, band: float) -> float:
    """Return the share of a vector's length beyond a deadband, so without a step at its edge."""
    length = _length(a)
    return 1.0 - band / length if length > band else 0.0
