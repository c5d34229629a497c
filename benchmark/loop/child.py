# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A process of the benchmark: started, watched, and ended with its ``with`` block."""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from ..robots import ROOT
from ..timing import BenchmarkError

if TYPE_CHECKING:
    from typing_extensions import Self

POLITENESS = 10.0  # time to end before it is killed, s


class Child:
    """
    ``python arguments``, asked to end with the ``with`` block, and killed if need be.

    :param output: file of its output, errors included
    """

    def __init__(self, output: Path, *arguments: str) -> None:
        self._output, self._name = output, ' '.join(arguments[:3])
        with output.open('wb') as file:
            self._process = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, stdout=file, stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ask it to end, wait, and kill what is left of its group."""
        # Asked first: DDS leaves its shared memory behind in a process that is killed.
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(POLITENESS)

    def check(self) -> None:
        """Raise a BenchmarkError if it has ended."""
        if self._process.poll() is not None:
            raise BenchmarkError(f'{self._name} ended too early:\n{self.output}')

    @property
    def output(self) -> str:
        """What it has written until now."""
        return self._output.read_text(encoding='utf-8', errors='replace')

    @property
    def pid(self) -> int:
        """Its process id, also that of its group."""
        return self._process.pid

    @property
    def cpu(self) -> float:
        """Processor time that it has used, s."""
        stat = Path(f'/proc/{self.pid}/stat').read_text(encoding='utf-8')
        # The name, in parentheses, may hold anything; utime and stime are fields 14 and 15.
        user, system = stat.rpartition(')')[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')

    @property
    def memory(self) -> float:
        """Memory that it holds now, MB."""
        status = Path(f'/proc/{self.pid}/status').read_text(encoding='utf-8')
        return int(status.split('VmRSS:')[1].split()[0]) / 1e3
