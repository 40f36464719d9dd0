import midpoint.audit


def test_the_public_names_are_these() -> None:
    assert midpoint.audit.__all__ == [
        "ATTACKERS",
        "Attacker",
        "AuditResults",
        "Progress",
        "Row",
        "View",
        "audit",
        "check_attacker",
        "read_scheme",
    ]
    assert all(hasattr(midpoint.audit, name) for name in midpoint.audit.__all__)
