# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels on disk: whatever is wrong there, the kernel runs, and one line says why."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import importlib.util
import os
from pathlib import Path
import pickle
import pwd
import sys
import tempfile
from typing import Any
import warnings

import pytest

from rnea_ros.compilation import COMPILED
from rnea_ros.errors import KernelCacheWarning

if not COMPILED:
    pytest.skip('numba is missing or switched off', allow_module_level=True)

import numba

from rnea_ros.compilation import cache_files

SOURCE = """
from rnea_ros.compilation import entry

@entry
def twice(x):
    return 2.0 * x

@entry
def thrice(x):
    return 3.0 * x
"""
OTHER_USER = 65534


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be said yet, and no directory be named for the cache."""
    monkeypatch.setattr(cache_files, '_already_warned', set())
    monkeypatch.setattr(numba.config, 'CACHE_DIR', '')


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a directory that other users can enter, with a file of kernels."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / 'kernels.py').write_text(SOURCE, encoding='utf-8')
        yield folder
        sys.modules.pop('kernels', None)
        for path in (folder, *folder.rglob('*')):
            path.chmod(0o755)


def kernels(folder: Path) -> Any:
    """Return the kernels as a new process imports them."""
    spec = importlib.util.spec_from_file_location('kernels', folder / 'kernels.py')
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules['kernels'] = module  # numba looks it up there
    spec.loader.exec_module(module)
    return module


def run(module: Any) -> None:
    assert (module.twice(1.5), module.thrice(1.5)) == (3.0, 4.5)


def loaded(folder: Path) -> int:
    """Run a kernel as a new process does; return how many compiled forms came from the disk."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        kernel = kernels(folder).twice
        assert kernel(1.5) == 3.0
    return sum(kernel.stats.cache_hits.values())


def check_said_once(folder: Path, cause: str) -> str:
    """Run two kernels; one warning, which is returned, names the cause."""
    with pytest.warns(KernelCacheWarning, match=cause) as said:
        run(kernels(folder))
    assert len(said) == 1
    return str(said[0].message)


def check_not_kept(folder: Path, cause: str) -> None:
    assert 'NUMBA_CACHE_DIR' in check_said_once(folder, cause)
    assert not list(folder.rglob('*.nb?'))


@contextmanager
def not_as_root() -> Iterator[None]:
    """Let permissions count: they do not for root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    'empty': lambda data: b'', 'cut off': lambda data: data[: len(data) // 2],
    'zeros': lambda data: bytes(len(data)), 'garbage': lambda data: b'garbage' * 99,
    'zeros at the end': lambda data: data[:-900] + bytes(900),
}


@pytest.mark.parametrize('ending', ['nbi', 'nbc'])
def test_a_bad_file_is_said_once_and_replaced(
    folder: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [loaded(folder), loaded(folder)] == [0, 1]
    for name, damage in DAMAGES.items():
        monkeypatch.setattr(cache_files, '_already_warned', set())
        (path,) = folder.rglob(f'*twice*.{ending}')
        path.write_bytes(damage(path.read_bytes()))
        assert str(path.parent) in check_said_once(folder, 'cannot be read'), name
        assert loaded(folder) == 1, name


def test_a_read_only_package_caches_in_the_users_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / '__pycache__').touch()  # not even root can make a directory of it
    monkeypatch.setenv('XDG_CACHE_HOME', str(folder / 'cache'))
    assert [loaded(folder), loaded(folder)] == [0, 1]
    assert [*(folder / 'cache').rglob('*.nbi')]


def test_files_of_another_user_are_replaced_where_they_cannot_be_read(folder: Path) -> None:
    loaded(folder)
    cache = folder / '__pycache__'
    for path in cache.iterdir():
        path.chmod(0)
    if os.geteuid() == 0:
        os.chown(cache, OTHER_USER, OTHER_USER)
    with not_as_root():
        check_said_once(folder, 'Permission denied')
        assert loaded(folder) == 1


class Foreign:
    """Code of another user; the file ``ran`` shows that it ran."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path('ran'),)


UNSAFE: dict[str, Callable[[Path], None]] = {
    'can be written by other users': lambda path: path.chmod(0o777),
    'belongs to another user, 4711': lambda path: os.chown(path, 4711, 4711),
}


@pytest.mark.parametrize('where', ['parent', 'folder', 'index', 'code'])
@pytest.mark.parametrize('cause', UNSAFE)
@pytest.mark.skipif(os.geteuid() != 0, reason='only root can give files away')
def test_code_that_another_user_can_have_written_never_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cause: str, where: str
) -> None:
    monkeypatch.chdir(folder)
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name)
        cache.chmod(0o755)
        monkeypatch.setattr(numba.config, 'CACHE_DIR', f'{cache}/numba')
        assert [loaded(folder), loaded(folder)] == [0, 1]
        (index,), (code,) = cache.rglob('*twice*.nbi'), cache.rglob('*twice*.nbc')
        foreign = code if where == 'code' else index
        foreign.write_bytes(cache_files.with_checksum(pickle.dumps(Foreign())))
        places = {'parent': cache, 'folder': index.parent}
        UNSAFE[cause](places.get(where, foreign))
        text = check_said_once(folder, cause)
        assert ('that only you can write' in text) == (where in places)
        assert not Path('ran').exists()


def test_a_cache_that_no_other_user_can_change_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        monkeypatch.setattr(numba.config, 'CACHE_DIR', f'{name}/numba')
        loaded(folder)
        assert loaded(folder) == 1
        if os.geteuid() == 0:  # its group has the same name
            for path in Path(name, 'numba').rglob('*'):
                path.chmod(0o775 if path.is_dir() else 0o664)
            assert loaded(folder) == 1
            monkeypatch.setattr(pwd, 'getpwuid', {}.__getitem__)
            with pytest.warns(KernelCacheWarning, match='can be written by other users'):
                run(kernels(folder))  # a group with a name may have members
            monkeypatch.setattr('grp.getgrgid', {}.__getitem__)
            assert loaded(folder) == 1
        Path(name).chmod(0o700)
        next(Path(name, 'numba').iterdir()).chmod(0o777)
        assert loaded(folder) == 1


def test_a_full_disk_is_said_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_full(path: str, mode: str = 'r', **options: Any) -> Any:
        return open('/dev/full' if 'w' in mode else path, mode, **options)

    monkeypatch.setattr('numba.core.caching.open', open_full, raising=False)
    check_not_kept(folder, 'No space left on device')


@pytest.mark.parametrize('home', ['/dev/null/home', None])
def test_a_read_only_package_and_no_usable_home_are_said_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    (folder / '__pycache__').touch()
    for name in ('HOME', 'XDG_CACHE_HOME'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, 'getpwuid', unknown)
    if home is not None:
        monkeypatch.setenv('HOME', home)
    monkeypatch.chdir(folder)
    check_not_kept(folder, '__pycache__')
    assert not (folder / '~').exists()


def test_a_directory_that_is_lost_while_the_process_runs_is_said_once(folder: Path) -> None:
    module = kernels(folder)
    cache = folder / '__pycache__'
    for path in cache.iterdir():
        path.unlink()
    cache.rmdir()
    cache.touch()
    with pytest.warns(KernelCacheWarning, match='__pycache__') as said:
        run(module)
    assert len(said) == 1
