# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Why something was refused or stopped: one word each, the same in log, diagnostics and docs."""

from __future__ import annotations

import enum


class Reason(enum.Enum):
    """The cause of a refusal, of a warning or of a change of state."""

    # messages that are refused whatever they are about; bytes that are none of their type
    MALFORMED = 'malformed'

    # joint states that are refused; what was valid before stays in force
    WRONG_SIZE = 'wrong_size'
    DUPLICATE_JOINT = 'duplicate_joint'
    NO_VELOCITY = 'no_velocity'
    NOT_FINITE = 'not_finite'
    STAMP_NOT_NEWER = 'stamp_not_newer'
    STAMP_IN_FUTURE = 'stamp_in_future'
    POSITION_JUMP = 'position_jump'

    # joint states that are taken: several in a row showed that their clock was set
    CLOCK_STEP = 'clock_step'

    # wrenches that are refused, beside not_finite and stamps; their term fades if none follows
    UNKNOWN_FRAME = 'unknown_frame'
    FRAME_CHANGED = 'frame_changed'
    OVER_CAP = 'over_cap'

    # tares that are refused, beside wrench_stale and over_cap; the offset before stays in force
    TARE_ROBOT_MOVED = 'tare_robot_moved'

    # messages of the base's IMU that are refused, beside these; it goes stale if none follows
    FRAME_MOVES = 'frame_moves'
    PART_MISSING = 'part_missing'
    NOT_UNIT_QUATERNION = 'not_unit_quaternion'
    FREE_FALL = 'free_fall'

    # references of a controller that are refused, beside these and reasons of trajectories
    SPEED_OUT_OF_RANGE = 'speed_out_of_range'

    # what is flagged while the control goes on
    JOINT_STATES_LATE = 'joint_states_late'
    JOINT_STATES_FROZEN = 'joint_states_frozen'
    REFERENCE_STALE = 'reference_stale'
    LIMITS_CANNOT_HOLD = 'limits_cannot_hold'
    WRENCH_STALE = 'wrench_stale'
    BASE_STALE = 'base_stale'
    SECOND_PUBLISHER = 'second_publisher'
    COMMANDS_WITHHELD = 'commands_withheld'

    # what ends the control
    JOINT_STATES_STALE = 'joint_states_stale'
    TICK_BLOCKED = 'tick_blocked'
    CLOCK_RESET = 'clock_reset'
    CONTROLLER_JOINTS_CHANGED = 'controller_joints_changed'
    OUTPUT_NOT_FINITE = 'output_not_finite'
    INTERNAL_ERROR = 'internal_error'
    STOP_REQUESTED = 'stop_requested'
