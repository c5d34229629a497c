# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the teleoperation, read once, at the start."""

from __future__ import annotations

from dataclasses import dataclass
import enum

from ..errors import InputError
from ..parameters import (
    EACH,
    check_ranges,
    declarations_of,
    group,
    parameter,
    with_value_per_joint,
)

# Least timeout of a leader without a node, s: four periods at 20 Hz, as a message may be lost. Its
# motion comes to rest before.
MIN_TIMEOUT = 0.2


class FeedbackSource(enum.Enum):
    """What the leader feels of the follower."""

    NONE = 'none'
    EXTERNAL_EFFORT = 'external_effort'  # the follower's external efforts
    COUPLING = 'coupling'                # spring and damper between both arms


@dataclass(frozen=True)
class FeedbackSettings:
    """Parameters of the efforts on the leader."""

    source: FeedbackSource = parameter(FeedbackSource.NONE, 'what the leader feels')
    scale: tuple[float, ...] = parameter(
        (1.0,), f'effort on the leader per effort of the follower, {EACH}', span=(0.0, 100.0)
    )
    limits: tuple[float, ...] = parameter(
        (0.0,), f'maximum effort on the leader, {EACH}, N m or N', span=(0.0, 1e6)
    )
    cutoff: float = parameter(30.0, 'low-pass filter of these efforts, Hz', span=(0.1, 1000.0))
    stiffness: tuple[float, ...] = parameter(
        (0.0,), f'of the spring with source coupling, {EACH}, N m/rad or N/m', span=(0.0, 1e6)
    )
    damping: tuple[float, ...] = parameter(
        (0.0,), f'of the damper with source coupling, {EACH}, N m s/rad or N s/m', span=(0.0, 1e6)
    )
    damping_rate: float = parameter(
        40.0,
        'greatest damping that keeps the feedback passive, per inertia of the leader, 1/s; '
        '0: never damp',
        span=(0.0, 1000.0),
    )
    armature: tuple[float, ...] = parameter(
        (0.0,), f"rotor inertia at the leader's joint, {EACH}, kg m^2 or kg", span=(0.0, 1e4)
    )


@dataclass(frozen=True)
class TeleoperationSettings:
    """
    Parameters of the node ``teleoperation``; those per joint have one value, or one per joint.

    :raises InputError: a value cannot be used
    """

    leader: str = parameter('leader', 'namespace of the leader, its node feedforward and topics')
    leader_node: bool = parameter(
        True, 'the leader has a node feedforward; false: its positions alone are followed'
    )
    follower: str = parameter('follower', 'namespace of the follower')
    leader_description: str = parameter(
        '', 'URDF of the leader, text or path; empty: from its topic robot_description'
    )
    follower_description: str = parameter('', 'URDF of the follower; empty: from its topic')
    joints: tuple[str, ...] = parameter(('',), 'joints of the follower that follow the leader')
    leader_joints: tuple[str, ...] = parameter(
        ('',), "the leader's joint for each of these; ['']: the same names"
    )
    scale: tuple[float, ...] = parameter(
        (1.0,),
        f"motion of the follower's joint per motion of the leader's, {EACH}; negative: opposite",
        span=(-100.0, 100.0),
    )
    offset: tuple[float, ...] = parameter(
        (0.0,), f"position of the follower's joint when the leader's is at 0, {EACH}, rad or m",
        span=(-100.0, 100.0)
    )
    rate: float = parameter(500.0, 'set-points per second, Hz', span=(20.0, 1000.0))
    align_speed: float = parameter(
        0.3, "speed of the follower on the way to the leader's pose, rad/s or m/s",
        span=(0.001, 10.0),
    )
    max_acceleration: float = parameter(
        10.0,
        'acceleration while aligning, and deceleration before limits and when uncoupled, '
        'rad/s^2 or m/s^2',
        span=(0.01, 1000.0),
    )
    max_deviation: float = parameter(
        0.3, 'maximum distance of a set-point from the follower, rad or m', span=(0.01, 6.28)
    )
    leader_velocity: float = parameter(
        10.0, 'reject positions of the leader that need a higher speed, rad/s or m/s',
        span=(0.1, 1000.0),
    )
    acceleration_cutoff: float = parameter(
        20.0, "low-pass filter of the leader's acceleration, Hz", span=(0.5, 200.0)
    )
    timeout: float = parameter(
        0.1, 'age of a message of either arm at which the arms are uncoupled, s; of a leader '
        f'without a node at least {MIN_TIMEOUT}', span=(0.02, 10.0),
    )
    dead_man_topic: str = parameter(
        '', 'std_msgs/Bool, repeated while the arms shall be coupled; empty: always'
    )
    dead_man_timeout: float = parameter(
        0.2, 'age of its last message that counts as false, s', span=(0.02, 10.0)
    )
    feedback: FeedbackSettings = group(FeedbackSettings(), 'feedback.')

    def __post_init__(self) -> None:
        check_ranges(self)
        for name in ('joints', 'leader_joints'):
            names = getattr(self, name)
            for joint in names:
                if names.count(joint) > 1:
                    raise InputError(name, f'joint {joint!r} is listed {names.count(joint)} times')
        if not self.joints or '' in self.joints:
            raise InputError('joints', 'no joint of the follower is listed')
        if self.leader_joints != ('',) and len(self.leader_joints) != len(self.joints):
            raise InputError(
                'leader_joints', f'{len(self.leader_joints)} for {len(self.joints)} joints'
            )
        if not all(self.scale):
            raise InputError('scale', 'a scale is 0')
        if self.feedback.source is FeedbackSource.NONE:
            return
        source = self.feedback.source.value
        if not self.leader_node:
            raise InputError(
                'feedback.source',
                f"{source!r} needs the leader's node: with leader_node false set 'none'",
            )
        if not all(self.feedback.limits):
            raise InputError('feedback.limits', f'is 0 with {source}')

    @property
    def joints_of_leader(self) -> tuple[str, ...]:
        """The leader's joint for each joint of the follower."""
        return self.joints if self.leader_joints == ('',) else self.leader_joints

    @property
    def leader_timeout(self) -> float:
        """Age of the leader's joint states at which the arms are uncoupled, s."""
        return self.timeout if self.leader_node else max(self.timeout, MIN_TIMEOUT)

    @property
    def period(self) -> float:
        """Time between two set-points, s."""
        return 1.0 / self.rate

    def per_joint(self) -> TeleoperationSettings:
        """Return these settings with one value per joint."""
        return with_value_per_joint(self, self.joints)


PARAMETERS = declarations_of(TeleoperationSettings, read_only=True)
