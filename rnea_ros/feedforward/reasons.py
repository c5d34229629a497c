# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Causes of rejections, flags and faults: one word each in log, diagnostics and docs."""

from __future__ import annotations

import enum


class Reason(enum.Enum):
    """Cause of a rejection, a flag or a fault."""

    # any message: its bytes are not a message of its type, or too many
    MALFORMED = 'malformed'
    TOO_LARGE = 'too_large'

    # rejected joint states; the last valid state stays in use until its timeout
    WRONG_SIZE = 'wrong_size'
    DUPLICATE_JOINT = 'duplicate_joint'
    NO_VELOCITY = 'no_velocity'
    NOT_FINITE = 'not_finite'
    STAMP_NOT_NEWER = 'stamp_not_newer'
    STAMP_IN_FUTURE = 'stamp_in_future'
    VELOCITY_TOO_HIGH = 'velocity_too_high'
    POSITION_JUMP = 'position_jump'
    POSITION_OUT_OF_RANGE = 'position_out_of_range'

    # counted only: a measured effort that the joint cannot have is unknown
    EFFORT_TOO_HIGH = 'effort_too_high'

    # counted only: the clock of the joint states was set; their new stamps are accepted
    CLOCK_STEP = 'clock_step'

    # rejected wrenches, beside not_finite and the stamps; without valid ones their term fades
    UNKNOWN_FRAME = 'unknown_frame'
    FRAME_CHANGED = 'frame_changed'
    OVER_CAP = 'over_cap'

    # rejected additional efforts, beside these
    UNKNOWN_JOINT = 'unknown_joint'

    # rejected tares, beside wrench_stale, joint_states_stale and over_cap; the last offset stays
    TARE_UNSTEADY = 'tare_unsteady'

    # rejected messages of the IMU, beside these; without valid ones it counts as silent
    PART_MISSING = 'part_missing'
    NOT_UNIT_QUATERNION = 'not_unit_quaternion'
    FREE_FALL = 'free_fall'

    # rejected references of a trajectory controller, beside the reasons of trajectories
    SPEED_OUT_OF_RANGE = 'speed_out_of_range'

    # flags: the control goes on
    JOINT_STATES_LATE = 'joint_states_late'
    JOINT_STATES_FROZEN = 'joint_states_frozen'  # also an end, while the reference moves
    UNCOMMANDED_STALE = 'uncommanded_stale'
    REFERENCE_STALE = 'reference_stale'
    LIMITS_CANNOT_HOLD = 'limits_cannot_hold'
    WRENCH_STALE = 'wrench_stale'
    BASE_STALE = 'base_stale'
    SECOND_PUBLISHER = 'second_publisher'
    SECOND_CONTROLLER = 'second_controller'
    COMMANDS_WITHHELD = 'commands_withheld'
    ADDITIONAL_EFFORT_CUT = 'additional_effort_cut'
    CONTACT = 'contact'  # with contact.action hold or gravity also the end of a motion

    # ends of an action goal, beside commands_withheld and the ends of the control
    REPLACED = 'replaced'
    CANCELLED = 'cancelled'
    MODE_WITHOUT_MOTION = 'mode_without_motion'
    PATH_TOLERANCE = 'path_tolerance'
    GOAL_TOLERANCE = 'goal_tolerance'

    # ends of the control
    JOINT_STATES_STALE = 'joint_states_stale'
    JOINT_STATES_CONTRADICT = 'joint_states_contradict'
    TICK_BLOCKED = 'tick_blocked'
    CLOCK_RESET = 'clock_reset'
    CONTROLLER_JOINTS_CHANGED = 'controller_joints_changed'
    OUTPUT_NOT_FINITE = 'output_not_finite'
    INTERNAL_ERROR = 'internal_error'
    STOP_REQUESTED = 'stop_requested'
