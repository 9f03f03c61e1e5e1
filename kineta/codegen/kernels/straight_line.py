"""Straight-line programs as trees of kernels, so that every back end of kernels writes programs, too.

A long program is cut into parts, each a kernel of its own. Values between parts, and the sine and cosine of an angle, lie in
the room behind the block h, which is :func:`room` numbers long.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.kernels.tree import (
    Choice,
    Conditional,
    Constant,
    ConstantArray,
    Entry,
    Evaluate,
    Expression,
    KernelCall,
    KernelTree,
    Leave,
    Operation,
    SetEntry,
    SetVariable,
    Statement,
    Variable,
    View,
    WhileLoop,
)
from kineta.codegen.spilling import Bundle, spill_plan
from kineta.expr.op import LIBM, UNARY, Op
from kineta.expr.program import StraightLineProgram
from kineta.expr.row import StepRow
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, REALS, MemoryType
from kineta.threads import memo

#: Registers that compilers are assumed to have, from which the length of a part follows.
_REGISTERS = 16
#: Depth of an expression. Compilers read deeper ones slowly.
_DEEP = 8
#: Operations by name in trees.
_NAMES = {Op.ADD: "add", Op.MUL: "mul", Op.DIV: "div", Op.ABS: "fabs", Op.FLOOR: "floor", **LIBM}
#: Operations that evaluate an operand more than once.
_CHOICES = (Op.SIGN, Op.STEP, Op.MIN, Op.MAX, Op.GUARD, Op.WHERE)


def _search() -> KernelTree:
    """The kernel that counts the knots that are not above a quantity, all for what is not a number."""
    x, knots = Variable(REAL, "x"), Variable(REALS, "knots")
    n, first, half = (Variable(INTEGER, name) for name in ("n", "first", "half"))
    zero, one, two = (Constant(INTEGER, k) for k in range(3))

    def of(name: str, a: Expression, b: Expression) -> Expression:
        return Operation(INTEGER, name, (a, b))

    middle, behind = of("add", first, half), of("add", half, one)
    below = Operation(BOOLEAN, "lt", (x, Entry(REAL, knots, middle)))
    right: list[Statement] = [
        SetVariable("first", of("add", first, behind)),
        SetVariable("n", of("sub", n, behind)),
    ]
    body: list[Statement] = [
        SetVariable("half", of("floordiv", n, two)),
        Conditional(below, [SetVariable("n", half)], right),
    ]
    whole: list[Statement] = [
        SetVariable("first", zero),
        WhileLoop(Operation(BOOLEAN, "gt", (n, zero)), body),
        Leave(first),
    ]
    title = "The number of knots that are not above x."
    parameters: dict[str, MemoryType] = {"x": REAL, "knots": REALS, "n": INTEGER}
    return KernelTree("piece", title, parameters, INTEGER, {"first": INTEGER, "half": INTEGER}, whole, True)


SEARCH = _search()


def room(program: StraightLineProgram) -> int:
    """Number of the values behind the block h that *program* uses."""
    return _cut(program)[0] + 2


def straight_line(program: StraightLineProgram, name: str, sincos: KernelTree) -> KernelTree:
    """*program* as the kernel *name* of its input blocks and of the array ``out``; its block h has :func:`room` behind it.

    sincos : the kernel that sets an array to the sine and the cosine of an angle
    """
    return memo(program, ("tree", name, sincos), lambda: _tree(program, name, sincos))


def _cut(program: StraightLineProgram) -> tuple[int, Sequence[Sequence[Bundle]]]:
    """The number of slots and the chunks of *program*."""

    def made() -> tuple[int, Sequence[Sequence[Bundle]]]:
        plan = spill_plan(program, _REGISTERS)
        return plan.slots, plan.chunks

    return memo(program, "cut", made)


def _tree(program: StraightLineProgram, name: str, sincos: KernelTree) -> KernelTree:
    slots, chunks = _cut(program)
    parameters: dict[str, MemoryType] = {**{b.name: REALS for b in program.inputs}, "out": REALS}
    title, done = f"{program.name}: {program.operations()}", set[int]()
    if len(chunks) == 1:
        return _Part(program, slots, sincos, done).kernel(name, title, parameters, chunks[0])
    calls: list[Statement] = []
    given = tuple(Variable(REALS, n) for n in parameters)
    for i, chunk in enumerate(chunks):
        part = _Part(program, slots, sincos, done)
        kernel = part.kernel(f"{name}_{i}", f"Part {i} of {name}.", parameters, chunk)
        calls.append(Evaluate(KernelCall(NOTHING, kernel, given)))
    return KernelTree(name, title, parameters, NOTHING, {}, calls, False)


class _Part:
    """A part of a program: its statements and variables so far, and values of the program as expressions with their depths.

    done : numbers of the results that are set
    """

    def __init__(self, program: StraightLineProgram, slots: int, sincos: KernelTree, done: set[int]) -> None:
        self.program, self.sincos, self.done = program, sincos, done
        self.statements: list[Statement] = []
        self.variables: dict[str, MemoryType] = {}
        self.values: dict[int, tuple[Expression, int]] = {}
        self.uses: dict[int, int] = {}
        self.pieces: dict[tuple[int, tuple[float, ...]], Variable] = {}
        self.sources = [(b.name, k) for b in program.inputs for k in range(b.size)]
        # A program without a block h makes one.
        block, self.behind = next((("h", b.size) for b in program.inputs if b.name == "h"), ("out", program.n_outputs))
        self.block, self.sines = Variable(REALS, block), self.behind + slots

    def kernel(self, name: str, title: str, parameters: dict[str, MemoryType], chunk: Sequence[Bundle]) -> KernelTree:
        """The kernel of the operations of a *chunk*, and of all results that were not set before."""
        program, first = self.program, self.program.first_operation
        operations = [k for bundle in chunk for k in bundle.operations]
        here = {first + k for k in operations}
        ready = [i for i, r in enumerate(program.results) if i not in self.done and (r >> 1 < first or r >> 1 in here)]
        self.done.update(ready)
        used = [r for k in operations for r in self._operands(k)] + [program.results[i] for i in ready]
        used += [2 * (first + k) for bundle in chunk for k, _ in bundle.stores]
        for r in used:
            self.uses[r >> 1] = self.uses.get(r >> 1, 0) + 1
        for bundle in chunk:
            self._bundle(bundle)
        for i in ready:
            self._put_entry(Variable(REALS, "out"), i, self._operand(program.results[i])[0])
        return KernelTree(name, title, parameters, NOTHING, self.variables, self.statements, False)

    def _operands(self, k: int) -> tuple[int, ...]:
        a, b = self.program.lhs[k], self.program.rhs[k]
        return (a,) if self.program.op[k] in UNARY else (a, b)

    def _put_entry(self, array: Expression, place: int, value: Expression) -> None:
        self.statements.append(SetEntry(array, Constant(INTEGER, place), value))

    def _named(self, value: int, x: Expression) -> Expression:
        """A *value* of the program as a variable."""
        name = f"v{value}"
        self.variables[name] = REAL
        self.statements.append(SetVariable(name, x))
        self.values[value] = Variable(REAL, name), 0
        return self.values[value][0]

    def _operand(self, r: int) -> tuple[Expression, int]:
        """An operand of the program, and its depth."""
        program, value = self.program, r >> 1
        if value in self.values:
            found, depth = self.values[value]
        elif value >= program.n_inputs:
            found, depth = Constant(REAL, program.constants[value - program.n_inputs]), 0
        else:
            block, place = self.sources[value]
            found, depth = Entry(REAL, Variable(REALS, block), Constant(INTEGER, place)), 0
        return (Operation(REAL, "neg", (found,)) if r & 1 else found), depth

    def _bundle(self, bundle: Bundle) -> None:
        first = self.program.first_operation
        for k, slot in bundle.loads:
            self._named(first + k, Entry(REAL, self.block, Constant(INTEGER, self.behind + slot)))
        if self.program.op[bundle.operations[0]] in (Op.SIN, Op.COS):
            self._sines(bundle.operations)
        else:
            for k in bundle.operations:
                self._operation(k)
        for k, slot in bundle.stores:
            self._put_entry(self.block, self.behind + slot, self._operand(2 * (first + k))[0])

    def _sines(self, group: Sequence[int]) -> None:
        """Sines and cosines, those of an angle together."""
        program = self.program
        for angle in dict.fromkeys(program.lhs[k] for k in group):
            given = self._operand(angle)[0], View(REALS, self.block, Constant(INTEGER, self.sines))
            self.statements.append(Evaluate(KernelCall(NOTHING, self.sincos, given)))
            for k in group:
                if program.lhs[k] == angle:
                    place = Constant(INTEGER, self.sines + (program.op[k] == Op.COS))
                    self._named(program.first_operation + k, Entry(REAL, self.block, place))

    def _operation(self, k: int) -> None:
        op, value = Op(self.program.op[k]), self.program.first_operation + k
        if op == Op.LOOKUP:
            x, depth = self._looked_up(*self._operands(k)), 1
        elif op in _CHOICES:
            x, depth = _choice(op, [self._simple(r) for r in self._operands(k)]), _DEEP
        else:
            operands = [self._operand(r) for r in self._operands(k)]
            x, depth = _arithmetic(op, [x for x, _ in operands]), 1 + max(depth for _, depth in operands)
        if self.uses.get(value, 0) == 1 and depth < _DEEP:
            self.values[value] = x, depth
        else:
            self._named(value, x)

    def _looked_up(self, a: int, b: int) -> Expression:
        """The value of a row of numbers at the operand *a*, whose place among the knots is searched once."""
        found = self.program.constants[(b >> 1) - self.program.n_inputs]
        assert isinstance(found, StepRow)
        if (a, found.knots) not in self.pieces:
            name = f"piece{len(self.pieces)}"
            self.variables[name] = INTEGER
            given = self._operand(a)[0], ConstantArray(REALS, found.knots), Constant(INTEGER, len(found.knots))
            self.statements.append(SetVariable(name, KernelCall(INTEGER, SEARCH, given)))
            self.pieces[a, found.knots] = Variable(INTEGER, name)
        return Entry(REAL, ConstantArray(REALS, found.values), self.pieces[a, found.knots])

    def _simple(self, r: int) -> Expression:
        """The operand *r*, which may be evaluated more than once."""
        x = self._operand(r & ~1)[0]
        if not isinstance(x, Constant | Variable):
            x = self._named(r >> 1, x)
        return Operation(REAL, "neg", (x,)) if r & 1 else x


def _arithmetic(op: Op, operands: Sequence[Expression]) -> Expression:
    """An operation that has a name; a sum with a negative operand is a difference."""
    if op == Op.ADD:
        a, b = operands
        match a, b:
            case _, Operation(_, "neg", (minus,)):
                return Operation(REAL, "sub", (a, minus))
            case Operation(_, "neg", (minus,)), _:
                return Operation(REAL, "sub", (b, minus))
    return Operation(REAL, _NAMES[op], tuple(operands))


def _choice(op: Op, operands: Sequence[Expression]) -> Expression:
    """An operation that compares."""
    x, y = operands[0], operands[-1]
    zero, one = Constant(REAL, 0.0), Constant(REAL, 1.0)

    def test(name: str, a: Expression, b: Expression) -> Expression:
        return Operation(BOOLEAN, name, (a, b))

    match op:
        case Op.SIGN:
            below = Choice(REAL, test("lt", x, zero), Constant(REAL, -1.0), x)
            return Choice(REAL, test("gt", x, zero), one, below)
        case Op.STEP:
            return Choice(REAL, test("gt", x, zero), one, zero)
        case Op.GUARD:
            return Choice(REAL, test("gt", y, zero), x, Constant(REAL, float("nan")))
        case Op.WHERE:
            return Choice(REAL, test("gt", y, zero), x, zero)
        case _:
            first = test("or", test("lt" if op == Op.MIN else "gt", x, y), test("ne", x, x))
            return Choice(REAL, first, x, y)
