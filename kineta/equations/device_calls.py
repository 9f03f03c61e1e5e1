"""Calls of functions with arrays in the memory of a graphics processor, which stay there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.codegen.cuda.device_arrays import DeviceArray, DeviceView, device_view, library_of
from kineta.codegen.cuda.device_program import DeviceProgram, Place
from kineta.codegen.cuda.driver import Device, device
from kineta.equations import argument_layout
from kineta.errors import ArgumentError, shown
from kineta.expr.op import Op
from kineta.expr.program import Block, StraightLineProgram
from kineta.model.system import System
from kineta.threads import memo
from kineta.values import numbers


class DeviceCalls:
    """The calls of one function: its programs on graphics processors, and its parameters there."""

    def __init__(
        self,
        system: System,
        arguments: Sequence[str],
        setup: StraightLineProgram,
        main: StraightLineProgram,
        hoisted: Callable[[Any], FloatArray],
    ) -> None:
        self._system, self._arguments, self._main, self._hoisted = system, arguments, main, hoisted
        self._setup = DeviceProgram(setup)
        self._program = DeviceProgram(with_unit_quaternions(main, tuple(system.quaternions.values())))

    def __call__(self, values: Mapping[str, Any]) -> list[Any] | None:
        """The parts of the quantity as arrays of the library whose arrays are given, or those of *out*; None if no argument is
        in the memory of a graphics processor.

        Raises :class:`ArgumentError` for shapes that do not fit, arrays of several processors, and results that share memory
        with arguments.
        """
        given = {name: device_view(name, values[name]) for name in (*self._arguments, "p")}
        outputs, out = self._main.outputs, values["out"]
        several = list(out) if isinstance(out, tuple | list) else []
        targets = [] if out is None else [out] if len(outputs) == 1 else several
        places = [device_view("out", target) for target in targets]
        found = [view for view in (*given.values(), *places) if view is not None]
        if not found:
            return None
        ordinals = sorted({view.ordinal for view in found})
        if len(ordinals) > 1:
            which = ", ".join(map(str, ordinals))
            raise ArgumentError(f"Expected arrays on one graphics processor, found those of the processors {which}.")
        on = device(ordinals[0])
        inputs = [self._argument(name, given[name], values[name]) for name in self._arguments]
        inputs.append(self._parameters(given["p"], values["p"], on))
        names = [block.name for block in self._main.inputs]
        lead = argument_layout.leading(names, [x.shape for x in inputs])
        if out is None:
            results = [DeviceArray((*lead, *block.shape), on.ordinal) for block in outputs]
            written = [result.view for result in results]
        else:
            written = _written(targets, places, lead, outputs, [x for x in inputs if isinstance(x, DeviceView)])
        views = [_view(x, lead, on.ordinal) for x in inputs]  # until the launch: they keep what is copied
        reads = [_place(v, lead, name) for v, name in zip(views, names, strict=True)]
        writes = [(v.address, *v.steps(len(lead), "out")) for v in written]
        self._program.launch(on, prod(lead), reads, writes)
        if out is not None:
            on.finish()  # nobody tells the streams of its readers
            return targets
        shared = library_of(next(values[name] for name, view in given.items() if view is not None))
        return [shared(result) for result in results]

    def _argument(self, name: str, view: DeviceView | None, value: Any) -> DeviceView | FloatArray:
        """An argument (..., size) of its block, where it is."""
        if view is None:
            return argument_layout.block(self._system, name, numbers(name, value))
        if name == "t":
            return replace(view, shape=(*view.shape, 1), strides=(*view.strides, 0))
        names = self._system.q_names if name == "q" else self._system.v_names
        if name == "tau" and not view.shape:
            return replace(view, shape=(len(names),), strides=(0,))
        argument_layout.check_size(name, names, view.shape)
        return view

    def _parameters(self, view: DeviceView | None, p: Any, on: Device) -> DeviceView | FloatArray:
        """The block ``h`` (..., nh): computed on the processor from parameters there."""
        if view is None:
            if p is None:
                return memo(self, on, lambda: DeviceArray.of(self._hoisted(None), on.ordinal)).view
            return self._hoisted(p)
        argument_layout.check_size("p", self._system.parameter_names, view.shape)
        lead, n = view.shape[:-1], self._setup.program.n_outputs
        found = DeviceArray((*lead, n), on.ordinal)
        if n:
            place = view.address, *view.steps(len(lead), "p")
            self._setup.launch(on, prod(lead), [place], self._setup.rows_of_results(found.view.address, n))
        return found.view


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
