# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs a node one of whose methods raises after a number of calls, every time.

``python -m support.ros.raising_node module class.method calls arguments``, where the class is one
of that module or ``module:class`` of another.
"""

from importlib import import_module
import itertools
import sys
from typing import Any


def main() -> int:
    module, target, calls, *arguments = sys.argv[1:]
    place, _, name = target.rpartition(':')
    owner, method = name.split('.')
    kind = getattr(import_module(place or module), owner)
    works, count = getattr(kind, method), itertools.count(1)

    def broken(*given: Any, **named: Any) -> Any:
        if next(count) > int(calls):
            raise RuntimeError('broken by a test')
        return works(*given, **named)

    setattr(kind, method, broken)
    return int(import_module(module).main(arguments))


if __name__ == '__main__':
    sys.exit(main())
