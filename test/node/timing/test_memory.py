# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Memory that is there before it is needed."""

from __future__ import annotations

import platform

import pytest

from support.python_process import run

FAULTS = """
import resource
from rnea_ros.node.timing.realtime import RESERVE, reserve_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

{reserve}
for share in (2, 4, 2):
    before = faults()
    block = bytearray(b'1') * (RESERVE // share)
    del block
    print(faults() - before)
"""


def faults_of_large_blocks(reserve: str) -> list[int]:
    return [int(word) for word in run(FAULTS.format(reserve=reserve)).split()]


@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='only glibc keeps memory on request')
def test_reserved_memory_stays_available_when_it_is_freed() -> None:
    assert min(faults_of_large_blocks('')) > 1000
    assert max(faults_of_large_blocks('assert reserve_memory()')) < 100
