from collections.abc import Callable
from pathlib import Path

import pytest

from midpoint.data.datasets.surveys import (
    PARTISAN,
    load_anes_thermometers,
    load_anes_thermometers_nonpartisan,
    load_anes_tv,
    load_young_people,
)
from midpoint.errors import MidpointError

RESPONSES = """"Music","Dance","Smoking","Age","Height","Weight","Number of siblings","Gender",\
"Left - right handed","Education","Only child","Village - town","House - block of flats"
5,2,"never smoked",19,160,48,1,"female","right handed","secondary school","no","village","house"
4,,"never smoked",20,170,58,2,"male","left handed","primary school","yes","city","house"
1,3,,,,,,"","","","","",""
"""
COLUMNS = '"original","short"\n"I enjoy listening to music.","Music"\n"Dance, Disco","Dance"\n'
PEOPLE = "respondent,mode,gender,age,party7,ideology7,party"
ITEMS = """var,label,block
V161086,PRE: Feeling Thermometer: Democratic Presidential cand,thermometer
V162096,POST: Feeling thermometer: FEMINISTS,thermometer
V161374,PRE FTF CASI/WEB: Mention: TV PROG NCIS,tv
"""


def young_people(path: Path, responses: str = RESPONSES) -> Path:
    (path / "responses.csv").write_text(responses)
    (path / "columns.csv").write_text(COLUMNS)
    return path


def anes(path: Path, thermometers: str) -> Path:
    (path / "items.csv").write_text(ITEMS)
    (path / "thermometers.csv").write_text(f"{PEOPLE},V161086,V162096\n{thermometers}")
    (path / "tv_programs.csv").write_text(
        f"{PEOPLE},V161374\n1,FTF,M,29.0,7.0,,R,1\n2,WEB,F,40.0,4.0,4.0,I,0\n3,WEB,F,70.0,1.0,1.0,D,-1\n"
    )
    return path


ANSWERS = "1,FTF,M,29.0,7.0,6.0,R,15.0,85.0\n2,WEB,F,,1.0,,D,100.0,\n3,WEB,,66.0,,3.0,,-9.0,998.0\n"


def test_statements_are_items_by_their_full_wording(tmp_path: Path) -> None:
    ratings = load_young_people(young_people(tmp_path))
    assert ratings.item_ids.tolist() == ["Dance", "Music"]
    assert ratings.item_names.tolist() == ["Dance, Disco", "I enjoy listening to music."]
    assert ratings.user_ids.tolist() == ["1", "2", "3"]
    assert ratings.value.tolist() == [2, 5, 4, 3, 1]
    assert str(ratings.scale) == "1 2 3 4 5"
    gender, age = ratings.features["gender"], ratings.features["age"]
    assert (gender.categories, gender.codes.tolist()) == (("F", "M"), [0, 1, -1])
    assert (age.categories, age.codes.tolist()) == (("20+", "under 20"), [1, 0, -1])
    assert ratings.features["handedness"].categories == ("left handed", "right handed")


def test_a_wrong_answer_or_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match=r"responses\.csv, line 3: 7 in column 'Music'"):
        load_young_people(young_people(tmp_path, RESPONSES.replace("\n4,", "\n7,")))
    with pytest.raises(MidpointError, match="no column 'Gender'"):
        load_young_people(young_people(tmp_path, RESPONSES.replace('"Gender"', '"Sex"')))


def test_thermometers_take_invalid_codes_as_no_answer(tmp_path: Path) -> None:
    ratings = load_anes_thermometers(anes(tmp_path, ANSWERS))
    assert ratings.user_ids.tolist() == ["1", "2"]
    assert ratings.value.tolist() == [15, 85, 100]
    assert ratings.scale.levels == tuple(range(101))
    assert ratings.item_names.tolist() == [
        "Democratic Presidential cand (before the election)",
        "Feminists",
    ]
    assert ratings.features["ideology"].categories == ("conservative",)
    assert ratings.features["party"].categories == ("D", "R")
    with pytest.raises(MidpointError, match=r"thermometers\.csv, line 2: 101 in column 'V162096'"):
        load_anes_thermometers(anes(tmp_path, ANSWERS.replace("85.0", "101.0")))


def test_the_nonpartisan_form_leaves_out_items_and_people_without_answers(tmp_path: Path) -> None:
    ratings = load_anes_thermometers_nonpartisan(anes(tmp_path, ANSWERS))
    assert ratings.item_names.tolist() == ["Feminists"]
    assert ratings.user_ids.tolist() == ["1"]


def test_television_is_zero_or_one_with_three_parties(tmp_path: Path) -> None:
    ratings = load_anes_tv(anes(tmp_path, ANSWERS))
    assert ratings.value.tolist() == [1, 0]
    assert ratings.item_names.tolist() == ["NCIS"]
    assert ratings.features["party"].categories == ("I", "R")
    assert ratings.features["politics"].codes.tolist() == [0, -1]


@pytest.mark.real_data
def test_the_real_surveys_have_their_counts(real: Callable[[str], Path]) -> None:
    young = load_young_people(real("young-people-survey"))
    assert (young.n_users, young.n_items, len(young)) == (1010, 135, 135_832)
    assert young.features["gender"].counts.tolist() == [593, 411]
    television = load_anes_tv(real("anes2016"))
    assert (television.n_users, television.n_items, len(television)) == (3729, 48, 178_992)
    assert television.features["party"].counts.tolist() == [1698, 479, 1538]
    warmth = load_anes_thermometers(real("anes2016"))
    # Four of the 4270 people answered none of the questions.
    assert (warmth.n_users, warmth.n_items, len(warmth)) == (4266, 51, 167_380)
    fair = load_anes_thermometers_nonpartisan(real("anes2016"))
    assert (fair.n_users, fair.n_items) == (3644, 23)
    assert not PARTISAN & set(fair.item_ids.tolist())
