# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files are written whole or not at all; figures have a window where one is asked for."""

import os
from pathlib import Path
import re
import signal
import stat
import subprocess
import sys
import tempfile
from typing import Any

import pytest

from rnea_ros import files
from rnea_ros.drawing import new_figure, save, show_windows
from rnea_ros.files import FileError, check_writable, write_file, write_files
from rnea_ros.parameters import parameter_file_text
from support.models.robots import ROOT


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / (255 * 'x')
    check_writable(path)
    assert [*tmp_path.iterdir()] == []
    for content, written in (('é\r\n', 'é\r\n'.encode()), (b'new', b'new')):
        write_file(path, content)
        check_writable(path)
        assert path.read_bytes() == written
        assert [*tmp_path.iterdir()] == [path]
    beside = tmp_path / 'b'
    beside.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(beside.stat().st_mode)


def test_an_error_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'a.yaml'
    path.write_text('old')

    def fail(*_: object) -> None:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(Path, 'replace', fail)
    with pytest.raises(FileError, match=r'a\.yaml cannot be written: No space left on device'):
        write_file(path, 'new')
    assert path.read_text() == 'old'
    assert [*tmp_path.iterdir()] == [path]


def test_files_are_all_replaced_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, last = (tmp_path / name for name in ('old', 'new', 'last'))
    rename = Path.replace

    def fail_at_last(path: Path, target: Path) -> None:
        if target == last:
            raise OSError(5, 'Input/output error')
        rename(path, target)

    old.write_text('old')
    last.write_text('old')
    contents = {old: 'a', new: 'b', last: 'c'}
    with monkeypatch.context() as busy:
        busy.setattr(Path, 'replace', fail_at_last)
        with pytest.raises(FileError, match='last cannot be written: Input'):
            write_files(contents)
    with pytest.raises(FileError, match='nowhere'):
        write_files({**contents, tmp_path / 'nowhere/a': 'd'})
    assert {path: path.read_text() for path in tmp_path.iterdir()} == {old: 'old', last: 'old'}
    write_files(contents)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == contents


def test_mode_and_owner_of_a_file_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'secret'
    path.touch(0o600)
    owner = (4711, 4712) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(path, *owner)
    write_file(path, 'new')
    found = path.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o600, *owner)
    path.chmod(0o664)
    monkeypatch.setattr(os, 'fchown', lambda *_: os.readlink(path))  # EINVAL: an unknown group
    write_file(path, 'new')
    found = path.stat()
    assert stat.S_IMODE(found.st_mode) == (0o664 if found.st_gid == owner[1] else 0o604)


OVERWRITE = """
import os, pathlib, sys
from rnea_ros.files import check_writable, write_files
path, _ = pathlib.Path(sys.argv[1]), os.seteuid(int(sys.argv[2]))
check_writable(path)
write_files({path: 'new'})
pathlib.Path.replace = lambda *_: os.stat('none')
write_files({path: 'lost', path.with_name('b'): ''})
"""


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can mount files, or be another user')
@pytest.mark.parametrize(('mode', 'user', 'mount', 'fault'), [
    (0o1777, 65534, 'true', 'No such'), (0o755, 0, 'mount --bind "$4" "$4"', 'No such'),
    (0o755, 65534, 'true', r'Permission denied \(in the folder /'),
])  # fmt: skip
def test_a_fixed_file_is_overwritten(mode: int, user: int, mount: str, fault: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, 'a file')
        path.write_text('old')
        path.chmod(0o666)
        path.parent.chmod(mode)
        shell = ['unshare', '-m', 'sh', '-c', f'{mount} && exec "$@"', 'sh']
        command = [*shell, sys.executable, '-c', OVERWRITE, str(path), str(user)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if re.match('(unshare|mount): ', ended.stderr):
            pytest.skip(ended.stderr)
        assert re.search(f'b cannot be written: {fault}', ended.stderr)
        assert {file.name: file.read_text() for file in Path(name).iterdir()} == {'a file': 'new'}


def test_a_temporary_name_cannot_be_foreseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, victim, names = tmp_path / 'a', tmp_path / 'victim', list[Path]()
    rename = Path.replace

    def watched(new: Path, target: Path) -> None:
        names.append(new)
        rename(new, target)

    monkeypatch.setattr(Path, 'replace', watched)
    write_file(path, 'first')
    names[0].symlink_to(victim)
    write_file(path, 'second')
    assert names[0] != names[1]
    monkeypatch.setattr(files, 'token_hex', lambda _: names[0].suffix[1:])
    with pytest.raises(FileError, match='File exists'):
        write_file(path, 'third')
    assert path.read_text() == 'second'
    assert not victim.exists()


def test_a_signal_waits_until_the_file_is_whole(tmp_path: Path) -> None:
    program = (
        'import os, pathlib, signal, sys\nfrom rnea_ros.files import write_files\n'
        'rename = pathlib.Path.replace\n'
        'def interrupted(*paths):\n    os.kill(os.getpid(), signal.SIGTERM)\n    rename(*paths)\n'
        'pathlib.Path.replace = interrupted\n'
        "write_files({pathlib.Path(name): 'new' for name in sys.argv[1:]})\n"
    )
    paths = {tmp_path / 'a', tmp_path / 'b'}
    ended = subprocess.run([sys.executable, '-c', program, *paths], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGTERM
    assert {*tmp_path.iterdir()} == paths


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    link, null = tmp_path / 'link', Path(os.devnull)
    link.symlink_to('a.yaml')
    write_file(link, 'new')
    assert link.is_symlink()
    assert (tmp_path / 'a.yaml').read_text() == 'new'
    check_writable(null)
    write_file(null, 'new')
    assert stat.S_ISCHR(null.stat().st_mode)


@pytest.mark.parametrize('name', ['none/a', '.', 'old/a', 'loop', 300 * 'x'])
def test_a_path_that_cannot_be_written_is_rejected(tmp_path: Path, name: str) -> None:
    (tmp_path / 'old').write_text('old')
    (tmp_path / 'loop').symlink_to('loop')
    for write in (check_writable, lambda path: write_file(path, 'new')):
        with pytest.raises(FileError, match=r'cannot be written: .*[a-z]'):
            write(tmp_path / name)
    assert len([*tmp_path.iterdir()]) == 2


def test_numbers_of_a_parameter_file_are_read_as_numbers() -> None:
    yaml = pytest.importorskip('yaml')
    values: dict[str, Any] = {
        'a': [1e-7, -0.0, 123456.7, 1e300, 2.0], 'b': 'true', 'c': True,
        'd.e': ['fer_joint1', 'né "x"', 'a\x85b\u2028c\n'], 'f': 3.0,
    }
    text = parameter_file_text(values, ['From a bag', ''])
    forged = parameter_file_text(values, ['bag\n/**: {a: 1}\x85b: 2', ''])
    assert yaml.safe_load(forged) == yaml.safe_load(text)
    assert text.startswith('# From a bag\n#\n\n/**:\n')
    read = yaml.safe_load(text)['/**']['ros__parameters']
    assert read == values | {'a': [1e-7, 0.0, 123457.0, 1e300, 2.0]}
    assert [type(number) for number in read['a']] == 5 * [float]


@pytest.mark.parametrize('window', [False, True])
def test_a_figure_is_written_and_shown_where_a_window_is_asked_for(
    window: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyplot = pytest.importorskip('matplotlib.pyplot', reason='matplotlib is not installed')
    backend = pyplot.get_backend()
    pyplot.switch_backend('Agg')
    shown: list[int] = []
    monkeypatch.setattr(pyplot, 'show', lambda: shown.extend(pyplot.get_fignums()))
    try:
        save(new_figure(2.0, 1.0, window=window), tmp_path / 'figure.png')
        show_windows()
        with pytest.raises(FileError, match='nowhere'):
            save(new_figure(2.0, 1.0), tmp_path / 'nowhere/figure.png')
    finally:
        pyplot.close('all')
        pyplot.switch_backend(backend)
    assert len(shown) == window
    assert (tmp_path / 'figure.png').read_bytes().startswith(b'\x89PNG')
