# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot as a process; in lockstep it waits two minutes for a node that stalls."""

import sys

from rnea_ros.sim import pace, simulated_robot

pace.ANSWER_TIMEOUT, pace.PUBLICATIONS = 120.0, 600

if __name__ == '__main__':
    sys.exit(simulated_robot.main())
