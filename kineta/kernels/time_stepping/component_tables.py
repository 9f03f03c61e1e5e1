"""Functions of a whole made of those of its components: each is called with its part of the state, one after the other.

They have the form of compiled functions; in place of the block h they take the tables, which have the blocks of all components.
"""

from __future__ import annotations

from kineta.integration.stepping_records import ComponentTable, ComponentTables
from kineta.kernels.language import kernel
from kineta.memory import Reals


@kernel
def follow_table(time: Reals, y: Reals, table: ComponentTable, out: Reals) -> None:
    """The results of the components of a *table*, and of the tables behind it, in their places of *out*."""
    for k in range(table.count):
        source, target = table.source[k * table.inputs :], table.target[k * table.outputs :]
        for i in range(table.inputs):
            table.state[i] = y[source[i]]
        table.function(time, table.state, table.blocks[table.at[k] :], table.found)
        for i in range(table.outputs):
            out[target[i]] = table.found[i]
    if table.more:
        table.following(time, y, table.rest, out)


@kernel
def table_terms(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``terms`` of all components."""
    follow_table(time, y, tables.terms, out)


@kernel
def table_gaps(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``gaps`` of all components."""
    follow_table(time, y, tables.gaps, out)


@kernel
def table_residuals(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``residuals`` of all components."""
    follow_table(time, y, tables.residuals, out)


@kernel
def table_retraction(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``retraction`` of all components."""
    follow_table(time, y, tables.retraction, out)


@kernel
def table_rate(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``rate`` of all components."""
    follow_table(time, y, tables.rate, out)


@kernel
def table_slopes(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``slopes`` of all components."""
    follow_table(time, y, tables.slopes, out)


@kernel
def table_coordinate_rate(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``coordinate_rate`` of all components."""
    follow_table(time, y, tables.coordinate_rate, out)


@kernel
def table_placed(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """What places masses of all components, and jumps."""
    follow_table(time, y, tables.placed, out)


@kernel
def table_places(time: Reals, y: Reals, tables: ComponentTables, out: Reals) -> None:
    """The ``places`` of all components."""
    follow_table(time, y, tables.places, out)
