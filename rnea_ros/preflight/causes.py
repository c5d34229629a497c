# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The judgement: rules, each of which looks at the figures for one kind of cause, and the verdict.

A cause is found where an interval clears a tolerance: significant, and large enough to matter.
"""

from __future__ import annotations

from .another_robot import another_robot
from .assessment import Assessment
from .faults import FAULTS
from .findings import Finding, Verdict
from .remainders import REMAINDERS


def find_causes(assessment: Assessment) -> list[Finding]:
    """Return everything that the rules find, in the order of the report."""
    faults = [finding for rule in FAULTS for finding in rule(assessment)]
    left = [finding for rule in REMAINDERS for finding in rule(assessment)]
    if other := another_robot(assessment, faults):
        return [other, *(finding for finding in left if not finding.must_be_fixed)]
    return [*faults, *left]


def verdict(assessment: Assessment, findings: list[Finding]) -> Verdict:
    """
    Return whether the model may be used.

    It is accepted when nothing must be fixed and every loaded joint could be judged.
    """
    if any(finding.must_be_fixed for finding in findings):
        return Verdict.REJECTED
    judged = [assessment.joints[joint].is_judged for joint in assessment.loaded]
    return Verdict.ACCEPTED if judged and all(judged) else Verdict.UNDECIDED
