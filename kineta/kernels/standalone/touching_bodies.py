"""Bodies that may touch each other in a run by time stepping without Python: tables of their components, made of parameters."""

from __future__ import annotations

from kineta.integration.contact_records import Function
from kineta.integration.loop_abi import Setup
from kineta.integration.stepping_records import ComponentTable, ComponentTables, SteppingData
from kineta.kernels.language import kernel, sqrt
from kineta.kernels.time_stepping.component_tables import follow_table
from kineta.kernels.time_stepping.near_pairs import ENDLESS, list_features
from kineta.kernels.time_stepping.pair_features import BOX, FEATURE_NUMBERS, PLANE
from kineta.kernels.vectors import copy
from kineta.memory import Integers, Reals, Record

#: Numbers of a shape: radius of what rounds its core, half sizes of the core, centre and axis in the axes of the body; and of
#: the law of a group: friction, friction in sticking, restitution, overlap at the start that is pushed apart.
SHAPE_NUMBERS, LAW_NUMBERS = 10, 4


class BlockTable(Record):
    """The setup of components that are alike: their blocks h of what is given.

    count : of the components; inputs : numbers that the setup takes
    source : (count, inputs) where these stand among all that is given; at : (count,) where their blocks begin among all
    given : (inputs,) working memory; following, rest, more : as of :class:`~kineta.integration.stepping_records.ComponentTable`
    """

    function: Setup
    count: int
    inputs: int
    source: Integers
    at: Integers
    given: Reals
    more: bool
    following: Function
    rest: Reals


class TouchingBodies(Record, partial=True):
    """Bodies of a run that may touch each other.

    measure : of parameters, the numbers of ``shapes`` and ``groups``, which stand behind ``plain`` numbers among what is given
    setups : of blocks h, into ``blocks``; tables : of functions of components; observed : that of what is observed, into ``each``
    components, results : number of components, and of results behind their energies
    states, order : number of states, and (states,) where those of the model stand among those of the components
    """

    measure: Setup
    plain: int
    shapes: int
    groups: int
    setups: BlockTable
    blocks: Reals
    tables: ComponentTables
    observed: ComponentTable
    each: Reals
    components: int
    results: int
    states: int
    order: Integers


@kernel
def follow_blocks(time: Reals, given: Reals, table: BlockTable, blocks: Reals) -> None:
    """The blocks of the components of a *table*, and of the tables behind it; the *time* is not looked at."""
    for k in range(table.count):
        source = table.source[k * table.inputs :]
        for i in range(table.inputs):
            table.given[i] = given[source[i]]
        table.function(table.given, blocks[table.at[k] :])
    if table.more:
        table.following(time, given, table.rest, blocks)


@kernel
def set_bodies(run: SteppingData, own: TouchingBodies, given: Reals) -> bool:
    """Set shapes, laws and blocks of what is *given*; whether all sizes are above zero."""
    pairs, numbers = run.pairs, given[own.plain :]
    own.measure(given, numbers)
    sized = True
    for s in range(own.shapes):
        shape = numbers[SHAPE_NUMBERS * s :]
        radius, half = shape[0], shape[1:]
        copy(half, pairs.half[3 * s :], 3)
        pairs.swing[s], pairs.bulk[s] = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]), radius
        if pairs.kind[s] == BOX:
            pairs.bulk[s] = min(half[0], min(half[1], half[2]))
        elif pairs.kind[s] == PLANE:
            pairs.bulk[s] = ENDLESS
        sized = sized and pairs.bulk[s] > 0.0 and half[0] >= 0.0
    laws = numbers[SHAPE_NUMBERS * own.shapes :]
    for g in range(own.groups):
        copy(laws[LAW_NUMBERS * g :], pairs.group_law[4 * g :], 3)
    follow_blocks(run.time, given, own.setups, own.blocks)
    return sized


@kernel
def deepest_pair(run: SteppingData, own: TouchingBodies, given: Reals, deepest: float) -> int:
    """The key of a pair of shapes that overlap by more than their law allows, and than -*deepest*; else -1."""
    pairs = run.pairs
    laws = given[own.plain + SHAPE_NUMBERS * own.shapes :]
    pairs.places_of(run.time, run.y, run.motion.block, pairs.places)
    list_features(pairs, 0.0)
    found, most = -1, 0.0
    for k in range(pairs.count):
        group = pairs.group[pairs.pair[k] // pairs.shapes]
        beyond = -max(laws[LAW_NUMBERS * group + 3], -deepest) - pairs.features[FEATURE_NUMBERS * k]
        if beyond > most:
            found, most = pairs.pair[k], beyond
    pairs.count = 0
    return found


@kernel
def gather_states(run: SteppingData, own: TouchingBodies, start: Reals) -> None:
    """The state of the run from the states *start* of the model."""
    for i in range(run.motion.n_extended):
        run.y[i] = 0.0
    for i in range(own.states):
        run.y[own.order[i]] = start[i]


@kernel
def show_states(run: SteppingData, own: TouchingBodies, at: Reals, state: Reals) -> None:
    """The states of the model in the state *at* of the components, and the work of all behind them."""
    for i in range(own.states):
        state[i] = at[own.order[i]]
    state[own.states] = 0.0
    for i in range(run.works):
        state[own.states] += at[run.work + i]


@kernel
def observe_bodies(run: SteppingData, own: TouchingBodies, at: Reals, values: Reals) -> None:
    """Energies of all components in a state *at* the time of the run, and what else is observed of each."""
    follow_table(run.time, at, own.observed, own.each)
    for i in range(2):
        values[i] = 0.0
        for k in range(own.components):
            values[i] += own.each[i * own.components + k]
    copy(own.each[2 * own.components :], values[2:], own.results)
