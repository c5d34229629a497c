# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A process of the benchmark in a separate group; it ends with its ``with`` block."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

from rnea_ros.shared_memory import on_loopback

from ..robots import ROOT

PATIENCE = 180.0
"""How long a process may take to do what it must, s: with a cold cache, kernels are compiled."""

POLITENESS = 10.0
"""How long it may take to end before it is killed, s."""


class ChildError(RuntimeError):
    """A process did not do what it must."""


class Child:
    """
    ``python -m module arguments``, asked to end with the ``with`` block, and killed if need be.

    :param module: such as ``benchmark.loop.feeder``
    :param arguments: of its command line
    :param domain: its DDS domain
    """

    def __init__(self, module: str, *arguments: str, domain: int) -> None:
        self._module = module
        self._lines: list[str] = []
        self.started = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, '-u', '-m', module, *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                **on_loopback(os.environ),
                'ROS_DOMAIN_ID': str(domain),
            },
            stdin=subprocess.PIPE,  # closed with this process, whatever ends it
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Ask it to end, wait, and kill what is left of its group."""
        # Asked first: DDS leaves its shared memory behind in a process that is killed.
        self._signal_group(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(POLITENESS)
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        self._reader.join(POLITENESS)
        assert self._process.stdin is not None
        self._process.stdin.close()

    def wait_for(
        self, word: str, timeout: float = PATIENCE, beside: Sequence[Child] = ()
    ) -> str:
        """
        Return what follows a word in the first line that begins with it, as soon as it is there.

        :param word: it is followed by a space or nothing
        :param timeout: s
        :param beside: processes without which it will not come
        :raises ChildError: one of them has ended, or the line did not come in time
        """
        deadline = time.monotonic() + timeout
        while True:
            alive = self._reader.is_alive()
            for line in list(self._lines):
                first, _, rest = line.rstrip('\n').partition(' ')
                if first == word:
                    return rest
            if not alive or time.monotonic() > deadline:
                if not alive:
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(POLITENESS)  # its output ends a moment before it does
                what = 'did not write' if alive else 'ended without'
                raise ChildError(f'{self._module} {what} {word!r}:\n{self.output}')
            for child in beside:
                child.check()
            time.sleep(0.01)

    def check(self) -> None:
        """
        Check that it still runs.

        :raises ChildError: it does not
        """
        if self._process.poll() is not None:
            raise ChildError(f'{self._module} ended too early:\n{self.output}')

    @property
    def output(self) -> str:
        """What it has written until now, errors included."""
        return ''.join(self._lines)

    @property
    def pid(self) -> int:
        """Its process id, which is its group's too."""
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
        (kilobytes,) = (
            line.split()[1] for line in status.splitlines() if line.startswith('VmRSS')
        )
        return int(kilobytes) / 1e3

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            for line in stream:
                self._lines.append(line)
