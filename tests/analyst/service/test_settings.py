"""Settings reach the workers."""

from midpoint.analyst.service.settings import Settings


def test_settings_survive_the_way_to_a_worker() -> None:
    settings = Settings(site="s", database="d", witnesses=("https://a", "https://b"), patience=2.5)
    assert Settings.from_json(settings.to_json()) == settings
