# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The processes of the benchmark, and a DDS domain that no others on this machine use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import ctypes
import fcntl
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from rnea_ros.shared_memory import on_loopback

from .. import ROOT, BenchmarkError

if TYPE_CHECKING:
    from typing_extensions import Self

DOMAINS = range(1, 101)
PR_SET_PDEATHSIG = 1  # of Linux
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
                start_new_session=True, preexec_fn=_end_with_parent,
            )
        self.pid = self._process.pid  # also that of its group

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

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def check(self) -> None:
        """Raise a BenchmarkError if it has ended."""
        if self.ended:
            raise BenchmarkError(f'{self._name} ended too early:\n{self.output}')

    @property
    def output(self) -> str:
        """What it has written until now."""
        return self._output.read_text(encoding='utf-8', errors='replace')

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


def _end_with_parent() -> None:
    """Let this process, a new one, get SIGTERM when its parent ends, whatever ends that."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def own_domain() -> Iterator[None]:
    """Run ROS in this process and its children, on loopback and a domain that nobody uses."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    locks = ((domain, locked(domain)) for domain in DOMAINS)
    domain, lock = next((pair for pair in locks if pair[1] is not None), (0, None))
    if lock is None:
        raise RuntimeError('every DDS domain from 1 to 100 is in use')
    os.environ.update(on_loopback(os.environ), ROS_DOMAIN_ID=str(domain))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield
    finally:
        rclpy.try_shutdown()
        sweep(domain)
        os.close(lock)


def locked(domain: int) -> int | None:
    """
    Lock a domain, and remove what killed processes left on it.

    :return: file descriptor that holds the lock until this process and its children end; None if
        others use the domain, or another user left memory that cannot be removed
    """
    path = Path(tempfile.gettempdir(), f'rnea_ros_domain_{domain}.lock')
    try:
        # The empty file remains. Only its first user can write it or name O_CREAT.
        lock = os.open(path, os.O_RDONLY if path.exists() else os.O_RDONLY | os.O_CREAT, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sweep(domain)
    except OSError:
        os.close(lock)
        return None
    return lock


def sweep(domain: int) -> None:
    """Remove what killed processes left on a domain: Fast DDS would wait for their memory."""
    ports = range(7400 + 250 * domain, 7650 + 250 * domain)
    for path in Path('/dev/shm').glob('*fast*_port*'):
        port = re.search(r'fast(?:dds|rtps)_port(\d+)', path.name)
        if port and int(port[1]) in ports:
            path.unlink(missing_ok=True)
