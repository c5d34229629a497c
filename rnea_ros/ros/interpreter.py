# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Settings of the Python interpreter for a thread that must keep a schedule."""

from __future__ import annotations

import gc
import sys

SWITCH_INTERVAL = 1e-4  # time for which one Python thread may keep the interpreter from another, s


def prepare_interpreter() -> None:
    """Shorten the switch interval; exempt the long-lived objects made before from collection."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()


class ManualGarbageCollection:
    """
    Turns automatic garbage collection off while a loop runs.

    The automatic collector runs in the thread that made the last object: it may be the loop's. So
    a thread without a schedule calls ``gc.collect()``.
    """

    def begin(self) -> None:
        """Prepare the interpreter, and turn automatic collection off."""
        # Python cuts what it is given to whole microseconds: without rounding one is lost.
        self._switch_interval = round(sys.getswitchinterval(), 6)
        prepare_interpreter()
        gc.disable()

    def end(self) -> None:
        """Restore the interpreter's settings."""
        sys.setswitchinterval(self._switch_interval)
        gc.enable()
        gc.unfreeze()
