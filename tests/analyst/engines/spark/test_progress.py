"""How far Spark has come: the share of the tasks of the job at work."""

from typing import Any, NamedTuple

import pytest

from midpoint.analyst.engines.spark.progress import share_done


class Stage(NamedTuple):
    """What Spark tells of a stage."""

    numTasks: int  # noqa: N815 - Spark's name
    numCompletedTasks: int  # noqa: N815


class Job(NamedTuple):
    """What it tells of a job."""

    stageIds: tuple[int, ...]  # noqa: N815


class Tracker:
    """Stands for Spark's own, which may have forgotten a job or a stage."""

    def __init__(self, jobs: dict[int, Job | None], stages: dict[int, Stage]) -> None:
        self.jobs, self.stages = jobs, stages

    def getActiveJobsIds(self) -> list[int]:  # noqa: N802
        return sorted(self.jobs)

    def getJobInfo(self, job: int) -> Job | None:  # noqa: N802
        return self.jobs[job]

    def getStageInfo(self, stage: int) -> Stage | None:  # noqa: N802
        return self.stages.get(stage)


STAGES = {1: Stage(4, 4), 2: Stage(4, 2), 3: Stage(8, 0), 5: Stage(2, 1)}


@pytest.mark.parametrize(
    ("jobs", "least", "share"),
    [
        ({}, 1, None),
        ({7: Job((1, 2, 3))}, 1, 6 / 16),
        ({7: Job((1, 2, 3)), 8: Job((5,))}, 1, 1 / 2),
        ({7: Job((1, 2, 3)), 8: Job((5,))}, 3, 6 / 16),
        ({7: Job((1, 2, 3))}, 4, None),
        ({7: Job((1, 4))}, 1, 1.0),
        ({7: None, 8: Job((4,))}, 1, None),
    ],
    ids=["idle", "one", "newest", "large", "small", "stage forgotten", "job forgotten"],
)
def test_the_share_is_of_the_newest_job(
    jobs: dict[int, Job | None], least: int, share: float | None
) -> None:
    tracker: Any = Tracker(jobs, STAGES)
    assert share_done(tracker, least) == share
