import numpy as np

from midpoint.analyst.counterparts.people import BLOCK, People
from tests.support.people.position_world import World


def test_people_stand_in_the_order_of_their_categories(world: World) -> None:
    feature = world.ratings.feature("kind")
    people = People.of(world.ratings, feature)
    rated = np.diff(world.ratings.user_offsets) > 0
    assert people.sizes.tolist() == feature.select(rated).counts.tolist()
    user = int(np.flatnonzero(rated & (feature.codes == 1))[5])
    mine = slice(people.offsets[people.bounds[1] + 5], people.offsets[people.bounds[1] + 6])
    hers = world.ratings.of_user(user)
    assert people.item[mine].tolist() == world.ratings.item[hers].tolist()
    assert people.value[mine].tolist() == world.ratings.value[hers].tolist()
    blocks = people.blocks()
    assert [block.begin for block in blocks[1:]] == [block.end for block in blocks[:-1]]
    assert blocks[-1].end == len(people)
    assert all(block.end - block.begin <= BLOCK for block in blocks)
    assert all((people.category[b.begin : b.end] == b.category).all() for b in blocks)


def test_samples_and_thinning_keep_who_is_who(world: World) -> None:
    people = People.of(world.ratings, world.ratings.feature("kind"))
    pairs = {(tuple(people.item[a:b]), k) for a, b, k in ratings_of(people)}
    codes = np.where(np.arange(3000) % 4 == 0, world.ratings.feature("kind").codes, -1)
    columns = (world.ratings.user_offsets, world.ratings.item, world.ratings.value)
    some = People.gather(*columns, codes, 2)
    assert len(some) <= 750
    assert {(tuple(some.item[a:b]), k) for a, b, k in ratings_of(some)} < pairs
    thin = people.thinned(0.5, 1.0, np.random.default_rng(0))
    share = np.diff(thin.offsets) / np.maximum(np.diff(people.offsets), 1)
    assert len(thin) == len(people)
    assert 0.7 < len(thin.item) / len(people.item) < 0.8
    assert 0.5 < np.quantile(share[np.diff(people.offsets) > 30], 0.1) < 0.6
    for i in (0, 17, 2000):
        kept = thin.item[thin.offsets[i] : thin.offsets[i + 1]]
        assert set(kept) <= set(people.item[people.offsets[i] : people.offsets[i + 1]])
    assert (np.diff(people.thinned(0.0, 0.0, np.random.default_rng(0)).offsets) == 1).all()
    assert people.thinned(1.0, 1.0, np.random.default_rng(0)).item.tolist() == people.item.tolist()


def ratings_of(people: People) -> list[tuple[int, int, int]]:
    return list(zip(people.offsets[:-1], people.offsets[1:], people.category.tolist(), strict=True))
