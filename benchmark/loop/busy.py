# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Keeps a core busy."""

from __future__ import annotations

import sys

from .pace import asked_to_end


def main() -> int:
    """Run until asked to end."""
    end = asked_to_end()
    print('ready', flush=True)
    while not end.is_set():
        sum(range(1000))
    return 0


if __name__ == '__main__':
    sys.exit(main())
