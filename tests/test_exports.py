"""What the public packages export: a name comes or goes on purpose, and shows here."""

from importlib import import_module

import pytest

EXPORTS = {
    "midpoint.user": """
        PURPOSES Accepted Adjustment Agent AsyncAgent BrokenSealError Decision DeviceSecret Ledger
        Obfuscated Parameters Pin PrivateCategory Recommendation StorageError Witness adjust
        check_disclosure check_numbers check_titles correct corrections decide obfuscate
        output_distribution require_legal reveal_probability toss value_shift verify_certificate
    """,
    "midpoint.user.agent": """
        Agent AsyncAgent AwayError Channel Fate Home Line Notes Patience ServiceError Standing Terms
        UnusableError preview
    """,
    "midpoint.wire": """
        GRAIN MILLION ONE SCHEMES Catalogue Certificate Certificates Chain Disclosure Entry
        FeatureNames Message Prior Problem Published RatingScale Receipt Refusal RefusedError Report Scheme
        Scores Signed SigningKey Solicitation SolicitationRequest ValueMap as_rows correction digest
        from_fixed on_grid to_fixed verify Witness
    """,
    "midpoint.protocol": """
        PROTOCOLS STATEMENTS FullDisclosure LearningProtocol Loss Population Reports Setting
        Statement adjust_population bits_per_item check_protocol derive discloses_at_least_as_much
        discloses_strictly_more local_correction more_accurate obfuscate_population row_bits state
        worst_case_loss
    """,
}


@pytest.mark.parametrize("package", EXPORTS)
def test_a_package_exports_these_names_and_no_others(package: str) -> None:
    module = import_module(package)
    assert sorted(module.__all__) == sorted(EXPORTS[package].split())
    for name in module.__all__:
        assert getattr(module, name) is not None
