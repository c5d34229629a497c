# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A DDS domain that nobody else on this machine uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import fcntl
import os
from pathlib import Path
import re
import tempfile

DOMAINS = range(1, 101)


@contextmanager
def own_domain() -> Iterator[int]:
    """
    Give a domain until the block ends.

    :raises RuntimeError: others use all of them
    """
    for domain in DOMAINS:
        # The lock lasts as long as this process; what it leaves behind is an empty file.
        lock = os.open(lock_path(domain), os.O_CREAT | os.O_RDWR)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        os.close(lock)
    else:
        raise RuntimeError('every DDS domain from 1 to 100 is in use')
    sweep(domain)
    try:
        yield domain
    finally:
        sweep(domain)
        os.close(lock)


def sweep(domain: int) -> None:
    """Remove what killed processes left on a domain: Fast DDS would wait for their memory."""
    ports = range(7400 + 250 * domain, 7650 + 250 * domain)
    for path in Path('/dev/shm').glob('*fast*_port*'):
        port = re.search(r'fast(?:dds|rtps)_port(\d+)', path.name)
        if port and int(port[1]) in ports:
            path.unlink(missing_ok=True)


def lock_path(domain: int) -> Path:
    """Return the file whose lock says that a domain is in use; tests keep to the same."""
    return Path(tempfile.gettempdir(), f'rnea_ros_domain_{domain}.lock')
