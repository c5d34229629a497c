# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Run all rules and give the verdict.

A rule reports a cause if the whole confidence interval is outside a tolerance: significant and
large enough to matter.
"""

from __future__ import annotations

from .another_robot import another_robot
from .assessment import Assessment
from .faults import FAULTS
from .findings import Finding, Verdict
from .remainders import REMAINDERS


def find_causes(assessment: Assessment) -> list[Finding]:
    """Return the findings of all rules, in the order of the report."""
    faults = [finding for rule in FAULTS for finding in rule(assessment)]
    others = [finding for rule in REMAINDERS for finding in rule(assessment)]
    if wrong_robot := another_robot(assessment, faults):
        return [wrong_robot, *(finding for finding in others if not finding.must_be_fixed)]
    return [*faults, *others]


def verdict(assessment: Assessment, findings: list[Finding]) -> Verdict:
    """
    Return whether the model may be used.

    It is accepted if nothing must be fixed and every loaded joint was judged.
    """
    if any(finding.must_be_fixed for finding in findings):
        return Verdict.REJECTED
    judged = [assessment.joints[joint].is_judged for joint in assessment.loaded]
    return Verdict.ACCEPTED if judged and all(judged) else Verdict.UNDECIDED
