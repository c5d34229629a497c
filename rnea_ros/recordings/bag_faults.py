# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Why a bag cannot be read, and the way out, in the words of a user.

The errors of the package rosbags come from its inside: ``'NoneType' object is not subscriptable``.
"""

from __future__ import annotations

from pathlib import Path

SQLITE, MCAP, ROS1 = b'SQLite format 3\0', b'\x89MCAP0\r\n', b'#ROSBAG V2.0'
"""First bytes of a ``.db3``, an ``.mcap`` and a ``.bag`` of ROS 1."""

FORMATS = {'.db3': SQLITE, '.mcap': MCAP, '.bag': ROS1}


def bag_fault(path: Path) -> str:
    """
    Return why a bag cannot be read, and the way out.

    :param path: directory or file that exists but could not be read
    """
    try:
        return _of_directory(path) if path.is_dir() else _of_file(path)
    except OSError as error:
        return f'it cannot be opened: {error.strerror}'


def _of_directory(path: Path) -> str:
    files = [file for file in sorted(path.iterdir()) if file.suffix in FORMATS]
    if not files:
        return 'the directory has no .db3 or .mcap file; name the directory of a bag'
    reindex = f'write it again: ros2 bag reindex {path}'
    if not (path / 'metadata.yaml').is_file():
        return f'metadata.yaml is missing; {reindex}'
    faults = [f'{file.name}: {fault}' for file in files if (fault := _cut_off(file))]
    return [*faults, f'metadata.yaml or {files[0].name} is damaged or too new; {reindex}'][0]


def _of_file(path: Path) -> str:
    if path.suffix not in FORMATS:
        return 'it is no bag; name a directory with metadata.yaml, or a .db3, .mcap or .bag file'
    if fault := _cut_off(path):
        return fault
    if path.suffix == '.db3':
        return f'it is damaged; recover it: sqlite3 {path} .recover | sqlite3 recovered.db3'
    return 'it is damaged; recover it with `mcap recover` (.mcap) or `rosbag reindex` (.bag)'


def _cut_off(path: Path) -> str:
    """Return what is wrong with the first and last bytes of a file."""
    magic = FORMATS[path.suffix]
    with path.open('rb') as file:
        start = file.read(len(magic))
        if not start:
            return 'the file is empty; record again'
        if start != magic:
            return f'it is no {path.suffix} file; name the recording, or record again'
        if magic is MCAP:
            file.seek(-min(len(MCAP), path.stat().st_size), 2)
            if file.read() != MCAP:
                return (
                    'its end is missing, as the recorder was killed or the copy is incomplete; '
                    f'recover it: mcap recover {path} -o recovered.mcap'
                )
    return ''
