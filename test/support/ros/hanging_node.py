# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node ``feedforward`` as a process; after SIGUSR1 its loop takes joint states for ever."""

import signal
import sys
import threading

from rnea_ros.node import feedforward_node
from rnea_ros.node.inputs import Inputs

if __name__ == '__main__':
    hung, read = threading.Event(), Inputs.read_joint_states

    def read_or_hang(inputs: Inputs, now: float) -> None:
        if hung.is_set():
            threading.Event().wait()
        read(inputs, now)

    Inputs.read_joint_states = read_or_hang  # type: ignore[method-assign, assignment]
    signal.signal(signal.SIGUSR1, lambda *_: hung.set())
    sys.exit(feedforward_node.main())
