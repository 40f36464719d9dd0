from midpoint.audit.run.work import Work
from midpoint.protocol import LearningProtocol
from tests.support.audits.small_audit import ByItems


def test_the_control_is_always_there_and_one_of_an_attackers_own_too() -> None:
    class OfMpOnly(ByItems):
        control = "mp"

    class ByProfiles(ByItems):
        reads_profiles = True

    work = Work.of(
        {"dmp": LearningProtocol("dmp"), "full": LearningProtocol("full")},
        {"items": ByItems, "own": OfMpOnly, "profiles": ByProfiles},
    )
    assert set(work.schemes) == {"no", "mp", "dmp", "full"}
    assert work.wants("full", "profiles")
    assert work.wants("dmp", "profiles")
    assert not work.wants("full", "items")
    assert work.wants("mp", "own")
    assert not work.wants("mp", "items")
    assert work.wants("no", "items")
    assert work.clean == {"items", "own", "profiles"}
