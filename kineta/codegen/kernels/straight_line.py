"""Straight-line programs as trees of kernels, so that every back end of kernels writes programs, too.

A long program is cut into parts, each a kernel of its own. Values between parts, and the sine and cosine of an angle, lie in
the room behind the block h, which is :func:`room` numbers long.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.kernels import tree
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


def _search() -> tree.KernelTree:
    """The kernel that counts the knots that are not above a quantity, all for what is not a number."""
    x, knots = tree.Variable(REAL, "x"), tree.Variable(REALS, "knots")
    n, first, half = (tree.Variable(INTEGER, name) for name in ("n", "first", "half"))
    zero, one, two = (tree.Constant(INTEGER, k) for k in range(3))

    def of(name: str, a: tree.Expression, b: tree.Expression) -> tree.Expression:
        return tree.Operation(INTEGER, name, (a, b))

    middle, behind = of("add", first, half), of("add", half, one)
    below = tree.Operation(BOOLEAN, "lt", (x, tree.Entry(REAL, knots, middle)))
    right: list[tree.Statement] = [
        tree.SetVariable("first", of("add", first, behind)),
        tree.SetVariable("n", of("sub", n, behind)),
    ]
    body: list[tree.Statement] = [
        tree.SetVariable("half", of("floordiv", n, two)),
        tree.Conditional(below, [tree.SetVariable("n", half)], right),
    ]
    whole: list[tree.Statement] = [
        tree.SetVariable("first", zero),
        tree.WhileLoop(tree.Operation(BOOLEAN, "gt", (n, zero)), body),
        tree.Leave(first),
    ]
    title = "The number of knots that are not above x."
    parameters: dict[str, MemoryType] = {"x": REAL, "knots": REALS, "n": INTEGER}
    return tree.KernelTree("piece", title, parameters, INTEGER, {"first": INTEGER, "half": INTEGER}, whole, True)


SEARCH = _search()


def room(program: StraightLineProgram) -> int:
    """Number of the values behind the block h that *program* uses."""
    return _cut(program)[0] + 2


def straight_line(program: StraightLineProgram, name: str, sincos: tree.KernelTree) -> tree.KernelTree:
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


def _tree(program: StraightLineProgram, name: str, sincos: tree.KernelTree) -> tree.KernelTree:
    slots, chunks = _cut(program)
    parameters: dict[str, MemoryType] = {**{b.name: REALS for b in program.inputs}, "out": REALS}
    title, done = f"{program.name}: {program.operations()}", set[int]()
    if len(chunks) == 1:
        return _Part(program, slots, sincos, done).kernel(name, title, parameters, chunks[0])
    calls: list[tree.Statement] = []
    given = tuple(tree.Variable(REALS, n) for n in parameters)
    for i, chunk in enumerate(chunks):
        part = _Part(program, slots, sincos, done)
        kernel = part.kernel(f"{name}_{i}", f"Part {i} of {name}.", parameters, chunk)
        calls.append(tree.Evaluate(tree.KernelCall(NOTHING, kernel, given)))
    return tree.KernelTree(name, title, parameters, NOTHING, {}, calls, False)


class _Part:
    """A part of a program: its statements and variables so far, and values of the program as expressions with their depths.

    done : numbers of the results that are set
    """

    def __init__(self, program: StraightLineProgram, slots: int, sincos: tree.KernelTree, done: set[int]) -> None:
        self.program, self.sincos, self.done = program, sincos, done
        self.statements: list[tree.Statement] = []
        self.variables: dict[str, MemoryType] = {}
        self.values: dict[int, tuple[tree.Expression, int]] = {}
        self.uses: dict[int, int] = {}
        self.pieces: dict[tuple[int, tuple[float, ...]], tree.Variable] = {}
        self.sources = [(b.name, k) for b in program.inputs for k in range(b.size)]
        # A program without a block h makes one.
        block, self.behind = next((("h", b.size) for b in program.inputs if b.name == "h"), ("out", program.n_outputs))
        self.block, self.sines = tree.Variable(REALS, block), self.behind + slots

    def kernel(
        self, name: str, title: str, parameters: dict[str, MemoryType], chunk: Sequence[Bundle]
    ) -> tree.KernelTree:
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
            self._put_entry(tree.Variable(REALS, "out"), i, self._operand(program.results[i])[0])
        return tree.KernelTree(name, title, parameters, NOTHING, self.variables, self.statements, False)

    def _operands(self, k: int) -> tuple[int, ...]:
        a, b = self.program.lhs[k], self.program.rhs[k]
        return (a,) if self.program.op[k] in UNARY else (a, b)

    def _put_entry(self, array: tree.Expression, place: int, value: tree.Expression) -> None:
        self.statements.append(tree.SetEntry(array, tree.Constant(INTEGER, place), value))

    def _named(self, value: int, x: tree.Expression) -> tree.Expression:
        """A *value* of the program as a variable."""
        name = f"v{value}"
        self.variables[name] = REAL
        self.statements.append(tree.SetVariable(name, x))
        self.values[value] = tree.Variable(REAL, name), 0
        return self.values[value][0]

    def _operand(self, r: int) -> tuple[tree.Expression, int]:
        """An operand of the program, and its depth."""
        program, value = self.program, r >> 1
        if value in self.values:
            found, depth = self.values[value]
        elif value >= program.n_inputs:
            found, depth = tree.Constant(REAL, program.constants[value - program.n_inputs]), 0
        else:
            block, place = self.sources[value]
            found, depth = tree.Entry(REAL, tree.Variable(REALS, block), tree.Constant(INTEGER, place)), 0
        return (tree.Operation(REAL, "neg", (found,)) if r & 1 else found), depth

    def _bundle(self, bundle: Bundle) -> None:
        first = self.program.first_operation
        for k, slot in bundle.loads:
            self._named(first + k, tree.Entry(REAL, self.block, tree.Constant(INTEGER, self.behind + slot)))
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
            given = self._operand(angle)[0], tree.View(REALS, self.block, tree.Constant(INTEGER, self.sines))
            self.statements.append(tree.Evaluate(tree.KernelCall(NOTHING, self.sincos, given)))
            for k in group:
                if program.lhs[k] == angle:
                    place = tree.Constant(INTEGER, self.sines + (program.op[k] == Op.COS))
                    self._named(program.first_operation + k, tree.Entry(REAL, self.block, place))

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

    def _looked_up(self, a: int, b: int) -> tree.Expression:
        """The value of a row of numbers at the operand *a*, whose place among the knots is searched once."""
        found = self.program.constants[(b >> 1) - self.program.n_inputs]
        assert isinstance(found, StepRow)
        if (a, found.knots) not in self.pieces:
            name = f"piece{len(self.pieces)}"
            self.variables[name] = INTEGER
            given = (
                self._operand(a)[0],
                tree.ConstantArray(REALS, found.knots),
                tree.Constant(INTEGER, len(found.knots)),
            )
            self.statements.append(tree.SetVariable(name, tree.KernelCall(INTEGER, SEARCH, given)))
            self.pieces[a, found.knots] = tree.Variable(INTEGER, name)
        return tree.Entry(REAL, tree.ConstantArray(REALS, found.values), self.pieces[a, found.knots])

    def _simple(self, r: int) -> tree.Expression:
        """The operand *r*, which may be evaluated more than once."""
        x = self._operand(r & ~1)[0]
        if not isinstance(x, tree.Constant | tree.Variable):
            x = self._named(r >> 1, x)
        return tree.Operation(REAL, "neg", (x,)) if r & 1 else x


def _arithmetic(op: Op, operands: Sequence[tree.Expression]) -> tree.Expression:
    """An operation that has a name; a sum with a negative operand is a difference."""
    if op == Op.ADD:
        a, b = operands
        match a, b:
            case _, tree.Operation(_, "neg", (minus,)):
                return tree.Operation(REAL, "sub", (a, minus))
            case tree.Operation(_, "neg", (minus,)), _:
                return tree.Operation(REAL, "sub", (b, minus))
    return tree.Operation(REAL, _NAMES[op], tuple(operands))


def _choice(op: Op, operands: Sequence[tree.Expression]) -> tree.Expression:
    """An operation that compares."""
    x, y = operands[0], operands[-1]
    zero, one = tree.Constant(REAL, 0.0), tree.Constant(REAL, 1.0)

    def test(name: str, a: tree.Expression, b: tree.Expression) -> tree.Expression:
        return tree.Operation(BOOLEAN, name, (a, b))

    match op:
        case Op.SIGN:
            below = tree.Choice(REAL, test("lt", x, zero), tree.Constant(REAL, -1.0), x)
            return tree.Choice(REAL, test("gt", x, zero), one, below)
        case Op.STEP:
            return tree.Choice(REAL, test("gt", x, zero), one, zero)
        case Op.GUARD:
            return tree.Choice(REAL, test("gt", y, zero), x, tree.Constant(REAL, float("nan")))
        case Op.WHERE:
            return tree.Choice(REAL, test("gt", y, zero), x, zero)
        case _:
            first = test("or", test("lt" if op == Op.MIN else "gt", x, y), test("ne", x, x))
            return tree.Choice(REAL, first, x, y)
