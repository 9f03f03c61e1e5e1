"""Calls of functions with arrays in the memory of a graphics processor, which stay there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.cuda.device_arrays import DeviceArray, DeviceView, device_view, library_of
from kineta.codegen.cuda.device_program import DeviceProgram, Place
from kineta.codegen.cuda.driver import Device, device
from kineta.equations import argument_layout
from kineta.errors import ArgumentError, shown
from kineta.expr.op import Op
from kineta.expr.program import Block, StraightLineProgram
from kineta.threads import memo
from kineta.values import numbers

if TYPE_CHECKING:
    from kineta.equations.function import Function


def call(function: Function, values: Mapping[str, Any]) -> list[Any] | None:
    """The parts of the quantity as arrays of the library whose arrays are given, or *out*; None if no argument is in the
    memory of a graphics processor.

    Raises :class:`ArgumentError` for shapes that do not fit, arrays of several processors, and results that share memory with
    arguments.
    """
    given = {name: device_view(name, values[name]) for name in (*function.arguments, "p")}
    outputs = function.main.outputs
    out = values["out"]
    targets = [] if out is None else [out] if len(outputs) == 1 else list(out) if isinstance(out, tuple | list) else []
    places = [device_view("out", target) for target in targets]
    found = [view for view in (*given.values(), *places) if view is not None]
    if not found:
        return None
    numbers_of = sorted({view.ordinal for view in found})
    if len(numbers_of) > 1:
        which = ", ".join(map(str, numbers_of))
        raise ArgumentError(f"Expected arrays on one graphics processor, found those of the processors {which}.")
    ordinal = numbers_of[0]
    inputs = [_argument(function, name, given[name], values[name]) for name in function.arguments]
    inputs.append(_hoisted(function, given["p"], values["p"], device(ordinal)))
    names = [block.name for block in function.main.inputs]
    lead = _lead(inputs, names)
    if out is None:
        results = [DeviceArray((*lead, *block.shape), ordinal) for block in outputs]
        written = [result.view for result in results]
    else:
        written = _written(targets, places, lead, outputs, [x for x in inputs if isinstance(x, DeviceView)])
    views = [_view(x, lead, ordinal) for x in inputs]  # until the launch: they keep what is copied
    reads = [_place(v, lead, name) for v, name in zip(views, names, strict=True)]
    writes = [(v.address, *v.steps(len(lead), "out")) for v in written]
    _program(function).launch(device(ordinal), prod(lead), reads, writes)
    if out is not None:
        device(ordinal).finish()  # nobody tells the streams of its readers
        return targets
    shared = library_of(next(values[name] for name, view in given.items() if view is not None))
    return [shared(result) for result in results]


def _argument(function: Function, name: str, view: DeviceView | None, value: Any) -> DeviceView | FloatArray:
    """An argument (..., size) of its block, where it is."""
    system = function.system
    if view is None:
        return argument_layout.block(system, name, numbers(name, value))
    if name == "t":
        return replace(view, shape=(*view.shape, 1), strides=(*view.strides, 0))
    names = system.q_names if name == "q" else system.v_names
    if name == "tau" and not view.shape:
        return replace(view, shape=(len(names),), strides=(0,))
    argument_layout.check_size(name, names, view.shape)
    return view


def _hoisted(function: Function, view: DeviceView | None, p: Any, on: Device) -> DeviceView | FloatArray:
    """The block ``h`` (..., nh): computed on the processor from parameters there."""
    if view is None:
        if p is None:
            return memo(function, on, lambda: DeviceArray.of(function.hoisted(), on.ordinal)).view
        return function.hoisted(p)
    names, setup = function.system.parameter_names, function.setup
    if not view.shape or view.shape[-1] != len(names):
        raise ArgumentError(f"Expected p of shape ({len(names)},) for ({', '.join(names)}), found shape {view.shape}.")
    lead = view.shape[:-1]
    found = DeviceArray((*lead, setup.n_outputs), on.ordinal)
    if setup.n_outputs:
        program = memo(function, "setup on devices", lambda: DeviceProgram(setup))
        start, row = found.view.address, setup.n_outputs
        program.launch(
            on, prod(lead), [(view.address, *view.steps(len(lead), "p"))], program.rows_of_results(start, row)
        )
    return found.view


def _lead(inputs: Sequence[DeviceView | FloatArray], names: Sequence[str]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape[:-1]}" for name, x in zip(names, inputs, strict=True))
        raise ArgumentError(f"Expected leading axes that agree, found {shapes}.") from None


def _view(given: DeviceView | FloatArray, lead: tuple[int, ...], ordinal: int) -> DeviceView:
    """What is *given* on the processor; that of the host is copied, with a row for each state if it has rows."""
    if isinstance(given, DeviceView):
        return given
    return DeviceArray.of(given if given.ndim == 1 else np.broadcast_to(given, (*lead, given.shape[-1])), ordinal).view


def _place(view: DeviceView, lead: tuple[int, ...], name: str) -> Place:
    """Where the block *name* stands once its leading axes are broadcast."""
    return view.address, *view.broadcast((*lead, view.shape[-1])).steps(len(lead), name)


def _written(
    targets: Sequence[Any],
    places: Sequence[DeviceView | None],
    lead: tuple[int, ...],
    outputs: Sequence[Block],
    inputs: Sequence[DeviceView],
) -> list[DeviceView]:
    """The views of arrays that are to hold the results, checked."""
    if len(targets) != len(outputs):
        raise ArgumentError(f"Expected out as a tuple of {len(outputs)} arrays, found {len(targets)} arrays.")
    found = list[DeviceView]()
    for target, view, block in zip(targets, places, outputs, strict=True):
        shape = (*lead, *block.shape)
        if view is None or view.shape != shape:
            what = shown(target) if view is None else f"shape {view.shape}"
            raise ArgumentError(f"Expected out as an array of shape {shape} on the graphics processor, found {what}.")
        if not view.writable:
            raise ArgumentError("Expected out as an array that may be written to, found one that is read-only.")
        if any(view.overlaps(other) for other in (*inputs, *found)):
            raise ArgumentError("Expected out as memory of its own, found memory of an argument or another result.")
        found.append(view)
    return found


def _program(function: Function) -> DeviceProgram:
    """The program of *function* that normalises quaternions itself."""
    turns = tuple(function.system.quaternions.values())
    return memo(function, "on devices", lambda: DeviceProgram(with_unit_quaternions(function.main, turns)))


def with_unit_quaternions(program: StraightLineProgram, offsets: Sequence[int]) -> StraightLineProgram:
    """*program* with quaternions, at *offsets* in its block ``q``, that it divides by their lengths first."""
    start = 0
    for block in program.inputs:
        if block.name == "q":
            break
        start += block.size
    first, extra = program.first_operation, 12 * len(offsets)
    op, lhs, rhs, turned = list[int](), list[int](), list[int](), dict[int, int]()

    def add(kind: Op, a: int, b: int) -> int:
        op.append(kind)
        lhs.append(2 * a)
        rhs.append(2 * b)
        return first + len(op) - 1

    for offset in offsets if any(b.name == "q" for b in program.inputs) else ():
        parts = range(start + offset, start + offset + 4)
        w, x, y, z = (add(Op.MUL, i, i) for i in parts)
        length = add(Op.SQRT, add(Op.ADD, add(Op.ADD, add(Op.ADD, w, x), y), z), 0)
        turned |= {i: add(Op.DIV, i, length) for i in parts}

    def moved(operand: int) -> int:
        value = operand >> 1
        value = turned.get(value, value + extra if value >= first else value)
        return 2 * value | operand & 1

    return replace(
        program,
        op=(*op, *program.op),
        lhs=(*lhs, *map(moved, program.lhs)),
        rhs=(*rhs, *map(moved, program.rhs)),
        results=tuple(map(moved, program.results)),
    )
