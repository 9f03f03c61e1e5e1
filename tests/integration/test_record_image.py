"""Images of records: copies in memory of their own."""

import numpy as np

from kineta.arrays import address
from kineta.integration.record_image import RecordImage
from kineta.memory import Integers, Reals, Record


class Inner(Record, partial=True):
    size: float
    places: Integers
    absent: Reals


class Outer(Record, partial=True):
    count: int
    x: Reals
    room: Reals
    empty: Reals
    inner: Inner


def record() -> Outer:
    inner = Inner(size=0.5, places=np.array([3, 4]))
    return Outer(count=7, x=np.array([1.0, 2.0]), room=np.zeros(5), empty=np.zeros(0), inner=inner)


def test_a_copy_has_the_values_of_the_record() -> None:
    found = RecordImage(record(), ["room"]).copy().record
    assert isinstance(found, Outer)
    assert isinstance(found.inner, Inner)
    assert (found.count, found.inner.size) == (7, 0.5)
    assert found.array("x").tolist() == [1.0, 2.0]
    assert found.inner.array("places").tolist() == [3, 4]
    assert len(found.array("room")) == 5
    assert not len(found.array("empty"))
    assert found.inner.array("absent") is None


def test_copies_share_no_memory() -> None:
    image = RecordImage(record(), ["room"])
    one, other = image.copy().record, image.copy().record
    one.array("x")[0] = one.inner.size = one.inner.array("places")[0] = 9
    assert other.array("x")[0] == 1.0
    assert other.inner.size == 0.5
    assert other.inner.array("places")[0] == 3


def test_a_copy_gets_its_first_values_again() -> None:
    copy = RecordImage(record(), ["room"]).copy()
    one = copy.record
    one.count, one.inner.size, one.array("x")[0], one.array("room")[0] = 8, 1.0, 9.0, 9.0
    fields = one.words().view(np.int64)[1:].copy()
    copy.reset()
    assert (one.count, one.inner.size, one.array("x")[0], one.array("room")[0]) == (7, 0.5, 1.0, 9.0)
    assert np.array_equal(one.words().view(np.int64)[1:], fields)


def test_fields_of_a_copy_have_the_addresses_of_its_parts() -> None:
    found = RecordImage(record(), ["room"]).copy().record
    fields = dict(zip(Outer.layout.fields, found.words().view(np.int64).tolist(), strict=True))
    for name in ("x", "room", "empty"):
        assert fields[name] == address(found.array(name))
    assert fields["inner"] == found.inner.address
    assert found.inner.words().view(np.int64)[1] == address(found.inner.array("places"))


def test_a_copy_lives_as_long_as_one_of_its_parts() -> None:
    inner = RecordImage(record(), ()).copy().record.inner
    RecordImage(record(), ()).copy().record.array("x")[:] = 0.0
    assert inner.array("places").tolist() == [3, 4]
