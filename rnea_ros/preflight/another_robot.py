# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rule: the URDF may be of another robot if no single cause explains the efforts."""

from __future__ import annotations

from collections.abc import Sequence

from .assessment import Assessment
from .faults import gravity, tools, whole_robot
from .findings import BY_HYPOTHESIS, IDENTIFY, Cause, Finding, describe, number

UNEXPLAINED_SHARE = 0.2
"""
Greatest unexplained share of a joint's effort without friction.

URDFs of the right robot leave up to 10 %, also with efforts from motor currents. URDFs of robots
of another shape leave 26 to 100 %.
"""

MAX_KINDS = 2
"""Most kinds of faults in one robot; with more, a URDF of another robot is more likely."""

MAY_BE = 'this URDF may be of another robot, or its masses are wrong'
REMEDY = f'check the robot type of the URDF and the order of the joints (--joints); {IDENTIFY}'


def another_robot(assessment: Assessment, faults: Sequence[Finding]) -> Finding | None:
    """
    Return the finding that the URDF may be of another robot, or None.

    :param assessment: figures of the joints and of the best hypothesis
    :param faults: findings of the rules in :mod:`.faults`
    """
    joints = assessment.joints
    all_joints = tuple(range(len(joints)))
    shares = {joint: assessment.unexplained(joint) for joint in assessment.loaded}
    unexplained = {joint: share for joint, share in shares.items() if share > UNEXPLAINED_SHARE}
    if unexplained and 2 * len(unexplained) >= len(shares):
        parts = ', '.join(
            f'{100.0 * min(share, 1.0):.0f} % of {joints[joint].name}'
            for joint, share in unexplained.items()
        )
        text = f'no known cause explains the efforts (unexplained: {parts}); {MAY_BE}'
        return Finding(Cause.ANOTHER_ROBOT, text, all_joints, remedy=REMEDY)
    found = {finding.cause for finding in faults if finding.must_be_fixed}
    kinds = found & BY_HYPOTHESIS
    factors = len(list(whole_robot(assessment)))
    together = factors + len(list(gravity(assessment))) + len(list(tools(assessment)))
    if len(kinds) > MAX_KINDS or (factors and together > 1):
        causes = describe(assessment.hypothesis, tuple(joint.name for joint in joints))
        text = f'only several causes together explain the efforts ({causes}); {MAY_BE}'
        return Finding(Cause.ANOTHER_ROBOT, text, all_joints, remedy=REMEDY)
    wrong = [
        joint
        for joint in assessment.loaded
        if joints[joint].scale.excludes(1.0, joints[joint].tolerance)
    ]
    if wrong and not found:
        parts = ', '.join(f'{joints[joint].name} {number(joints[joint].scale)}' for joint in wrong)
        text = f'no single cause explains the scales of the joints ({parts}); {MAY_BE}'
        return Finding(Cause.ANOTHER_ROBOT, text, tuple(wrong), remedy=REMEDY)
    return None
