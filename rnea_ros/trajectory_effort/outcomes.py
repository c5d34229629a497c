# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What happened to the trajectories so far, as texts for the log and values for diagnostics."""

from __future__ import annotations

from collections import Counter

from .planner import Plan


class Outcomes:
    """
    Counts of passed on and rejected trajectories, and the last of each.

    :ivar rejected_last: error of the last trajectory, empty if it was passed on
    """

    def __init__(self) -> None:
        self._passed_on = 0
        self._rejected: Counter[str] = Counter()
        self._plan: Plan | None = None
        self.rejected_last = ''

    def record_passed_on(self, plan: Plan) -> str:
        """
        Count a trajectory that was passed on.

        :param plan: the trajectory with its efforts
        :returns: line for the log
        """
        self._passed_on += 1
        self._plan = plan
        self.rejected_last = ''
        worst = plan.deviation
        where = f' ({worst.joint} at {worst.time:.3f} s)' if worst.joint else ''
        return (
            f'trajectory passed on: {len(plan.message.points)} points, up to '
            f'{100.0 * plan.greatest_share:.0f} % of the effort limits; linear interpolation '
            f'between the efforts is off by up to {worst.effort:.3g}{where}'
        )

    def record_rejected(self, word: str, detail: str) -> str:
        """
        Count a rejected trajectory.

        :param word: word of the reason, for diagnostics
        :param detail: the error
        :returns: line for the log
        """
        self._rejected[word] += 1
        self.rejected_last = detail
        return f'trajectory rejected: {detail}'

    def values(self, missing: str) -> dict[str, object]:
        """
        Return the values of a diagnostic status by key.

        :param missing: what the node waits for; empty if it is ready
        """
        values: dict[str, object] = {
            'ready': not missing,
            'missing': missing,
            'rejected_last': self.rejected_last,
            'passed_on': self._passed_on,
        }
        if self._plan is not None:
            values['points'] = len(self._plan.message.points)
            values['greatest_share_of_limit'] = f'{self._plan.greatest_share:.3f}'
            values['greatest_deviation'] = f'{self._plan.deviation.effort:.4g}'
        values.update({f'count/rejected/{word}': n for word, n in self._rejected.items()})
        return values
