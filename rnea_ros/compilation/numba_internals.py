# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The only module that uses parts of numba which its documentation does not promise.

Tried with numba 0.55.1, 0.56.4, 0.57.0, 0.59.0 and 0.68.1 (``constraints/``); another version may
need changes here. What each part gains, for the inverse dynamics of an arm with six joints:

- :func:`entry_point` skips numba's dispatcher, with which a call takes 1.7 times as long.
- ``_nrt=False`` excludes memory management, with which a call takes 1.5 times as long. The
  compiler rejects a kernel that allocates memory.
- :class:`ExactArray` checks arrays in place of the dispatcher: an array of another type would
  corrupt memory. The check takes 2 % of the call.
- :data:`lanes` computes eight samples at once; a loop over samples takes 4.6 times as long.
- :class:`KernelCache` warns of a full, unwritable or damaged cache; numba's ends the process. A
  start with compiled kernels loads no compiler, which saves 0.3 s and 50 MB.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
import operator
import os
from pathlib import Path
from typing import Any

from llvmlite import binding, ir
import numba
from numba import types
from numba.core import cgutils
from numba.core.boxing import unbox_array
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.extending import (
    NativeValue,
    intrinsic,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    type_callable,
    unbox,
)
import numpy as np

from ..errors import one_line
from .cache_files import read_checked, unsafe, warn_damaged, warn_not_cached, with_checksum

OPTIONS: dict[str, Any] = {'no_cfunc_wrapper': True, '_nrt': False}
"""Options of all kernels: they are not called from C, and do not allocate memory."""


# Calls without the dispatcher


def entry_point(kernel: Any, arguments: tuple[Any, ...], raises: bool) -> Callable[..., Any]:
    """Return a kernel's machine code for arguments of these types, compiled if necessary."""
    overloads = getattr(kernel, 'overloads', None)
    if overloads is None:
        return kernel  # type: ignore[no-any-return]
    signature = tuple(_type_of(argument, raises) for argument in arguments)
    if signature not in overloads:
        kernel.compile(signature)
        kernel.disable_compile()  # an error is better than a pause
    return overloads[signature].entry_point  # type: ignore[no-any-return]


def _type_of(argument: Any, raises: bool) -> Any:
    """Return numba's type of an argument; :class:`ExactArray` for a float64 array."""
    if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
        return ExactArray(argument.ndim, raises)
    if isinstance(argument, np.ndarray):
        return _type_of_records(argument.dtype, argument.ndim)
    return numba.typeof(argument)


@cache
def _type_of_records(dtype: np.dtype[Any], ndim: int) -> Any:
    """Return numba's type of a contiguous array; numba itself takes 1 ms to find it each time."""
    return numba.typeof(np.empty((0,) * ndim, dtype))


# Arrays that the machine code checks: it reads the fields of numpy's C structure

BYTE, INT, POINTER = ir.IntType(8), ir.IntType(32), ir.IntType(8).as_pointer()

# ``PyArrayObject_fields`` and ``PyArray_Descr`` of numpy/ndarraytypes.h, as far as they are read.
_HEAD = ir.ArrayType(BYTE, object.__basicsize__)
ARRAY = ir.LiteralStructType([_HEAD, POINTER, INT, POINTER, POINTER, POINTER, POINTER, INT])
NDIM, DTYPE, FLAGS = 2, 6, 7
DESCRIPTOR = ir.LiteralStructType([_HEAD, POINTER, BYTE, BYTE, BYTE, BYTE, INT])
BYTE_ORDER, TYPE_NUMBER = 4, 6
CONTIGUOUS_AND_ALIGNED = 0x0101

NDARRAY = 'rnea_ros_numpy_ndarray'
"""Name of numpy's array class in machine code."""

binding.add_symbol(NDARRAY, id(np.ndarray))


class ExactArray(types.Array):
    """
    Type of C-contiguous, aligned float64 arrays of class ndarray itself, not of a subclass.

    For anything else the machine code raises TypeError or, if ``raises`` is False, gets an array
    of lengths of -1. It also accepts read-only arrays.
    """

    def __init__(self, ndim: int, raises: bool) -> None:
        super().__init__(types.float64, ndim, 'C', name=f'ExactArray({ndim}, {raises})')
        self.raises = raises

    @property
    def key(self) -> Any:
        """What distinguishes the types of arrays: numba keeps one instance for each key."""
        return (*super().key, self.raises)


register_model(ExactArray)(models.ArrayModel)


@unbox(ExactArray)
def _read_array(array_type: Any, given: Any, c: Any) -> Any:
    """Return numba's array structure of a Python object, or an error."""
    builder = c.builder

    def equal(pointer: Any, structure: Any, field: int, expected: int, mask: int = -1) -> Any:
        value = builder.and_(read(pointer, structure, field), _constant(structure, field, mask))
        return builder.icmp_unsigned('==', value, _constant(structure, field, expected))

    def read(pointer: Any, structure: Any, field: int) -> Any:
        fields = builder.bitcast(pointer, structure.as_pointer())
        return builder.load(cgutils.gep_inbounds(builder, fields, 0, field))

    array = c.context.make_array(array_type)(c.context, builder)
    length = c.context.get_value_type(types.intp)(-1)
    array.shape = cgutils.pack_array(builder, [length] * array_type.ndim)
    exact = cgutils.alloca_once_value(builder, cgutils.false_bit)
    ndarray = c.pyapi.get_c_object(NDARRAY)
    with builder.if_then(builder.icmp_unsigned('==', c.pyapi.get_type(given), ndarray)):
        dtype, both = read(given, ARRAY, DTYPE), CONTIGUOUS_AND_ALIGNED
        fits = builder.and_(
            builder.and_(
                equal(dtype, DESCRIPTOR, TYPE_NUMBER, np.dtype(np.float64).num),
                equal(dtype, DESCRIPTOR, BYTE_ORDER, ord('=')),
            ),
            builder.and_(
                equal(given, ARRAY, NDIM, array_type.ndim),
                equal(given, ARRAY, FLAGS, both, mask=both),
            ),
        )
        builder.store(fits, exact)
        with builder.if_then(fits):
            builder.store(unbox_array(array_type, given, c).value, array._getpointer())
    if not array_type.raises:
        return NativeValue(array._getvalue())
    failed = builder.not_(builder.load(exact))
    with builder.if_then(failed, likely=False):
        reason = f'expected a contiguous float64 array of {array_type.ndim} dimensions'
        c.pyapi.err_set_string('PyExc_TypeError', reason)
    return NativeValue(array._getvalue(), is_error=failed)


def _constant(structure: Any, field: int, value: int) -> Any:
    return ir.Constant(structure.elements[field], value)


# Eight floats in a vector register

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class LanesType(types.Type):
    """Eight floats; an operation with a single float uses it in all lanes."""

    def __init__(self) -> None:
        super().__init__('Lanes')

    def unify(self, typing_context: Any, other: Any) -> Any:
        """Return the common type of lanes and another type."""
        return self if isinstance(other, types.Float) else None


lanes = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """Lanes are one value in LLVM."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


@lower_cast(types.Float, LanesType)
def _spread(context: Any, builder: Any, fro: Any, to: Any, value: Any) -> Any:
    """Return lanes that all hold one number."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    everywhere = ir.VectorType(ir.IntType(32), LANES)([0] * LANES)
    return builder.shuffle_vector(first, undefined, everywhere)


def _define(operation: Callable[..., Any], instruction: str, *forms: tuple[Any, ...]) -> None:
    """Define an operator for lanes, and for lanes with a float."""

    @type_callable(operation)
    def typing(context: Any) -> Any:
        if len(forms[0]) == 1:
            return lambda a: lanes if (a,) in forms else None
        return lambda a, b: lanes if (a, b) in forms else None

    def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        vectors = [
            context.cast(builder, value, kind, lanes)
            for value, kind in zip(values, sig.args, strict=True)
        ]
        return getattr(builder, instruction)(*vectors, flags=('contract', 'nsz'))

    for form in forms:
        lower_builtin(operation, *form)(code)


_MIXED = ((lanes, lanes), (lanes, types.float64), (types.float64, lanes))
_define(operator.add, 'fadd', *_MIXED)
_define(operator.sub, 'fsub', *_MIXED)
_define(operator.mul, 'fmul', *_MIXED)
_define(operator.truediv, 'fdiv', *_MIXED)
_define(operator.neg, 'fneg', (lanes,))


def _address(context: Any, builder: Any, row_type: Any, row: Any) -> Any:
    first = context.make_array(row_type)(context, builder, row).data
    return builder.bitcast(first, VECTOR.as_pointer())


@intrinsic
def load_lanes(typing: Any, row: Any) -> Any:
    """Return the lanes in a row of eight adjacent numbers."""

    def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[0], values[0]), align=8)

    return lanes(row), code


@intrinsic
def store_lanes(typing: Any, row: Any, value: Any) -> Any:
    """Write lanes, or one number to all lanes, into a row of eight adjacent numbers."""

    def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        vector = context.cast(builder, values[1], sig.args[1], lanes)
        builder.store(vector, _address(context, builder, sig.args[0], values[0]), align=8)
        return context.get_dummy_value()

    return types.void(row, value), code


# The cache on disk


def keep_on_disk(jitted: Any, stamp: str) -> None:
    """
    Give a kernel a :class:`KernelCache`: its machine code is saved on disk, and loaded from there.

    Without a directory that this user alone can write, warn once: ``KernelCacheWarning``.

    :param jitted: the kernel, with numba's decorator
    :param stamp: digest of all source code that the kernel depends on. Without it, numba compiles
        again if the file of the kernel changes, but not if the file of an inlined kernel changes
    """
    function = jitted.py_func
    try:
        cache = KernelCache(function, stamp)
    except RuntimeError:  # no writable directory, as in a read-only container
        pycache = Path(function.__code__.co_filename).with_name('__pycache__')
        warn_not_cached(f"neither {pycache} nor the user's cache can be written")
        return
    if fault := unsafe(Path(cache.cache_path), Path(function.__code__.co_filename)):
        warn_not_cached(fault)
    else:
        jitted._cache = cache


class _Directories(CompileResultCacheImpl):
    """Search for a cache directory; without a home, numba would create one named ``~``."""

    def __init__(self, function: Any) -> None:
        if not os.environ.get('XDG_CACHE_HOME') and os.path.expanduser('~').startswith('~'):
            every = CompileResultCacheImpl._locator_classes
            self._locator_classes = [one for one in every if 'UserWide' not in one.__name__]
        super().__init__(function)


class KernelCache(FunctionCache):
    """The compiled forms of a kernel; RuntimeError without a writable directory."""

    _impl_class = _Directories

    def __init__(self, function: Any, stamp: str) -> None:
        super().__init__(function)
        # Not numba's file name: files in numba's format would look damaged.
        name = f'{self._impl.filename_base}-checked'
        # Without links, which somebody could exchange later
        self._cache_path: str = os.path.realpath(self._impl.locator.get_cache_path())
        self._cache_file = _CheckedFile(self._cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """
        Return machine code for a signature; None if the cache has none.

        Numba's cache first loads the modules that the compiler needs (also scipy if it is
        installed), which takes 0.3 s and 50 MB. This cache does not load them: machine code does
        not need them, because kernels do not allocate memory.
        """
        try:
            return self._load_overload(sig, target_context)
        except Exception as error:  # unpickling can raise anything
            warn_damaged(self._cache_path, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save machine code for a signature, if the directory is writable."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_not_cached(f'{self._cache_path}: {one_line(error)}')


class _CheckedFile(IndexDataCacheFile):
    """Index and data of one kernel, each with a checksum."""

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return with_checksum(data)

    def _save_index(self, overloads: Any) -> None:
        data = self._dump((self._version, self._source_stamp, overloads))
        with self._open_for_write(self._index_path) as file:
            file.write(data)

    def _load_index(self) -> Any:
        try:
            version, stamp, overloads = read_checked(self._index_path)
        except (FileNotFoundError, NotADirectoryError, ImportError, AttributeError):
            return {}  # no file, or a file of another version with other class names
        except Exception as error:  # unpickling can raise anything
            warn_damaged(self._index_path, error)
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _load_data(self, name: str) -> Any:
        return read_checked(self._data_path(name))
