# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the URDF may be of another robot: no single cause explains what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from .assessment import Assessment
from .faults import gravity, tools, whole_robot
from .findings import BY_HYPOTHESIS, Cause, Finding, describe, number

UNEXPLAINED_SHARE = 0.2
"""
A joint's effort is explained where no more than this share of it is left, friction aside.

URDFs of the right robot leave up to 10 %, also where efforts are taken from currents; URDFs of
robots of another shape leave 26 to 100 %.
"""

MOST_KINDS = 2
"""Robots with more kinds of faults at once are rarer than URDFs that were mixed up."""

MAY_BE = 'this URDF may be of another robot, or its masses are wrong'
REMEDY = 'check that the URDF is of this type of robot, and which joint is which (--joints)'


def another_robot(assessment: Assessment, faults: Sequence[Finding]) -> Finding | None:
    """
    Return that the URDF may be of another robot, None where the causes that were found explain it.

    :param assessment: the figures
    :param faults: what the rules found by the best hypothesis
    """
    joints = assessment.joints
    everyone = tuple(range(len(joints)))
    shares = {joint: assessment.unexplained(joint) for joint in assessment.loaded}
    left = {joint: share for joint, share in shares.items() if share > UNEXPLAINED_SHARE}
    if left and 2 * len(left) >= len(shares):
        parts = ', '.join(
            f'{100.0 * min(share, 1.0):.0f} % of {joints[joint].name}'
            for joint, share in left.items()
        )
        text = f'no known cause explains the efforts (unexplained: {parts}); {MAY_BE}'
        return Finding(Cause.ANOTHER_ROBOT, text, everyone, remedy=REMEDY)
    found = {finding.cause for finding in faults if finding.must_be_fixed}
    kinds = found & BY_HYPOTHESIS
    factors = len(list(whole_robot(assessment)))
    together = factors + len(list(gravity(assessment))) + len(list(tools(assessment)))
    if len(kinds) > MOST_KINDS or (factors and together > 1):
        causes = describe(assessment.hypothesis, tuple(joint.name for joint in joints))
        text = f'only several causes at once explain the efforts ({causes}); {MAY_BE}'
        return Finding(Cause.ANOTHER_ROBOT, text, everyone, remedy=REMEDY)
    wrong = [
        joint
        for joint in assessment.loaded
        if joints[joint].scale.excludes(1.0, joints[joint].tolerance)
    ]
    if wrong and not found:
        parts = ', '.join(f'{joints[joint].name} {number(joints[joint].scale)}' for joint in wrong)
        text = f'no single cause explains the scales of joints ({parts}); {MAY_BE}'
        return Finding(Cause.ANOTHER_ROBOT, text, tuple(wrong), remedy=REMEDY)
    return None
