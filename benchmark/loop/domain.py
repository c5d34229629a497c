# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A DDS domain that no other process on this machine uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
from pathlib import Path
import re
import tempfile

from rnea_ros.shared_memory import on_loopback

DOMAINS = range(1, 101)


@contextmanager
def own_domain() -> Iterator[None]:
    """
    Run ROS in this process and its children, on loopback and a domain that nobody uses.

    :raises RuntimeError: others use all domains
    """
    import rclpy

    locks = ((domain, locked(domain)) for domain in DOMAINS)
    domain, lock = next((pair for pair in locks if pair[1] is not None), (0, None))
    if lock is None:
        raise RuntimeError('every DDS domain from 1 to 100 is in use')
    os.environ.update(on_loopback(os.environ), ROS_DOMAIN_ID=str(domain))
    rclpy.init()
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
