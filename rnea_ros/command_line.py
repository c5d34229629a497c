# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the executables' command lines share."""

from __future__ import annotations

import argparse
from typing import NoReturn

BAD_INPUT = 2
"""Exit code for bad arguments and files."""


class OneLineParser(argparse.ArgumentParser):
    """Refuses arguments with one line."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong and exit."""
        self.exit(BAD_INPUT, f'{self.prog}: {message} (see --help)\n')
