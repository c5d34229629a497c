# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a thread with a schedule needs of the Python interpreter that it shares with others."""

from __future__ import annotations

import gc
import sys

SWITCH_INTERVAL = 1e-4
"""How long another Python thread may keep the interpreter from one that waits for it, s."""


def prepare_interpreter() -> None:
    """
    Let other threads give way soon, and the garbage collector leave alone what is there already.

    To be called when all that is to stay has been made.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()


class ManualGarbageCollection:
    """
    Keeps the garbage collector from running by itself while a loop does.

    By itself it runs whenever enough objects were made, in whichever thread made the last: it may
    be the loop's. What is garbage all the same is collected on request, little by little.
    """

    def begin(self) -> None:
        """Prepare the interpreter, and stop collecting."""
        self._switch_interval = sys.getswitchinterval()
        prepare_interpreter()
        gc.disable()

    def collect(self) -> None:
        """Collect what became garbage since; for a thread that may be late."""
        gc.collect()

    def end(self) -> None:
        """Go back to how it was."""
        sys.setswitchinterval(self._switch_interval)
        gc.enable()
        gc.unfreeze()
