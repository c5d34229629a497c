# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
An argument type of kernels: contiguous float64 arrays, checked by the machine code itself.

numba's dispatcher checks array arguments, which takes as long as the inverse dynamics of a small
arm. Without the dispatcher nothing checks them, and an array of another type corrupts memory. Here
the machine code reads the fields of numpy's C structure, which takes two nanoseconds.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.boxing import unbox_array
from numba.extending import NativeValue, models, register_model, unbox
import numpy as np

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

    The machine code raises TypeError for anything else. It also accepts read-only arrays.

    :param ndim: number of dimensions
    """

    def __init__(self, ndim: int) -> None:
        super().__init__(types.float64, ndim, 'C', name=f'ExactArray({ndim})')


register_model(ExactArray)(models.ArrayModel)


@unbox(ExactArray)
def _read(array_type: Any, given: Any, c: Any) -> Any:
    """Return numba's array structure of a Python object, or an error."""
    builder = c.builder

    def read(pointer: Any, structure: Any, field: int) -> Any:
        fields = builder.bitcast(pointer, structure.as_pointer())
        return builder.load(cgutils.gep_inbounds(builder, fields, 0, field))

    def equal(value: Any, expected: int) -> Any:
        return builder.icmp_unsigned('==', value, value.type(expected))

    array = c.context.make_array(array_type)(c.context, builder)
    exact = cgutils.alloca_once_value(builder, cgutils.false_bit)
    ndarray = c.pyapi.get_c_object(NDARRAY)
    with builder.if_then(builder.icmp_unsigned('==', c.pyapi.get_type(given), ndarray)):
        dtype = read(given, ARRAY, DTYPE)
        contiguous = builder.and_(read(given, ARRAY, FLAGS), INT(CONTIGUOUS_AND_ALIGNED))
        fits = builder.and_(
            builder.and_(
                equal(read(dtype, DESCRIPTOR, TYPE_NUMBER), np.dtype(np.float64).num),
                equal(read(dtype, DESCRIPTOR, BYTE_ORDER), ord('=')),
            ),
            builder.and_(
                equal(read(given, ARRAY, NDIM), array_type.ndim),
                equal(contiguous, CONTIGUOUS_AND_ALIGNED),
            ),
        )
        builder.store(fits, exact)
        with builder.if_then(fits):
            builder.store(unbox_array(array_type, given, c).value, array._getpointer())
    failed = builder.not_(builder.load(exact))
    with builder.if_then(failed, likely=False):
        reason = f'expected a contiguous float64 array of {array_type.ndim} dimensions'
        c.pyapi.err_set_string('PyExc_TypeError', reason)
    return NativeValue(array._getvalue(), is_error=failed)
