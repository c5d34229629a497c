# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Print one line for several runs of pytest, from the files of ``--junit-xml``."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
import sys
import xml.etree.ElementTree as ElementTree


def total(paths: Sequence[str]) -> str:
    """
    Return the numbers of tests that passed, failed and were skipped, and of errors.

    :param paths: of the files; a run without a file counts as an error
    """
    counts: Counter[str] = Counter()
    for path in paths:
        if not Path(path).is_file():
            counts.update(tests=1, errors=1)
            continue
        for suite in ElementTree.parse(path).iter('testsuite'):
            counts.update({
                name: int(suite.get(name, '0'))
                for name in ('tests', 'failures', 'skipped', 'errors')
            })
    failed, skipped, errors = counts['failures'], counts['skipped'], counts['errors']
    passed = counts['tests'] - failed - skipped - errors
    return f'total: {passed} passed, {failed} failed, {skipped} skipped, {errors} errors'


if __name__ == '__main__':
    print(total(sys.argv[1:]))
