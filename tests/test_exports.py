"""What the public packages export: a name comes or goes on purpose, and shows here."""

from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

import pytest

EXPORTS = {
    "midpoint": """
        Analyst Device __version__ audit load obfuscate
    """,
    "midpoint.analyst": """
        Allowance CategoryEstimates CategoryStatistics CollectedReports Estimate Evidence Factorizer
        GivenFactors ItemProfiles PositionModel Progress Provenance Scorer Training Tuning
        choose_scheme disclose estimate_profiles expected_loss fit_positions itemwise_scheme
        least_squares posterior predict prepare publish report_weights tally train tune
    """,
    "midpoint.analyst.engines": """
        Engine LocalEngine RatingsTables ReadRatings StreamingEngine train_on
    """,
    "midpoint.analyst.engines.spark": """
        RatingsFrame SparkEngine fit_on_spark followed open_parquet open_session read_ratings
        require_new_address score_people tally_frame
    """,
    "midpoint.analyst.engines.streaming": """
        Scan StreamingEngine fit_from_disk scan tally_scan
    """,
    "midpoint.audit": """
        ATTACKERS Attacker AuditResults AuditSetting Progress Row View audit check_attacker
        read_scheme
    """,
    "midpoint.data": """
        Description Feature ItemOrder MISSING Origin PRESETS Ratings Scale Simulation
        SimulationConfig as_sets at_least describe hold_out in_levels load simulate split_at_random
        split_by_time split_moment split_ratings user_folds with_known write_atomic
    """,
    "midpoint.data.simulation": """
        ItemTruth PRESETS SimulatedFeature Simulation SimulationConfig UserTruth simulate
    """,
    "midpoint.protocol": """
        FullDisclosure LearningProtocol Loss PROTOCOLS Population Reports STATEMENTS Setting
        Statement adjust_population bits_per_item check_protocol derive discloses_at_least_as_much
        discloses_strictly_more local_correction more_accurate obfuscate_population row_bits
        squared_errors state
        worst_case_loss
    """,
    "midpoint.user": """
        Accepted Adjustment Agent AsyncAgent BrokenSealError Decision DeviceSecret Ledger Obfuscated
        PURPOSES Parameters Pin PrivateCategory Recommendation StorageError adjust
        check_disclosure check_numbers check_titles correct corrections decide obfuscate
        require_legal reveal_probability taste_move toss value_shift verify_certificate
    """,
    "midpoint.user.agent": """
        Agent AsyncAgent AwayError Channel Fate Home Line Notes Patience ServiceError Standing Terms
        UnusableError preview
    """,
    "midpoint.wire": """
        Catalogue Certificate Certificates Chain Disclosure Entry FeatureNames GRAIN MILLION Message
        ONE PanelMembership PanelRatings Prior Problem Published RatingScale Receipt Refusal
        RefusedError Report SCHEMES Scheme Scores Signed SigningKey Solicitation
        SolicitationRequest ValueMap WitnessStatement Wording as_rows correction digest from_fixed
        on_grid to_fixed verify
    """,
}


TWICE = {
    "Progress": "how far training is; how far an audit is: each party's own",
}
"""Names of two public classes, and why each may keep it."""


@pytest.mark.parametrize("package", EXPORTS)
def test_a_package_exports_these_names_and_no_others(package: str) -> None:
    if package.endswith(".spark"):
        pytest.importorskip("pyspark")
    module = import_module(package)
    assert sorted(module.__all__) == sorted(EXPORTS[package].split())
    for name in module.__all__:
        assert getattr(module, name) is not None


def shared_names(packages: Iterable[ModuleType]) -> set[str]:
    """Return the names under which packages export different classes."""
    classes: dict[str, set[type]] = defaultdict(set)
    for package in packages:
        for name in package.__all__:
            if isinstance(thing := getattr(package, name), type):
                classes[name].add(thing)
    return {name for name, things in classes.items() if len(things) > 1}


def test_a_name_means_one_public_class() -> None:
    packages = [import_module(name) for name in EXPORTS if not name.endswith(".spark")]
    assert shared_names(packages) == TWICE.keys()


def test_a_second_class_of_a_name_is_noticed() -> None:
    one, other = ModuleType("one"), ModuleType("other")
    for module in (one, other):
        own = type("Scale", (), {})
        vars(module).update(Scale=own, Shared=int, __all__=["Scale", "Shared"])
    assert shared_names([one, other]) == {"Scale"}
