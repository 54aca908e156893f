"""A tournament of any size is a ranking that fits a terminal; its files hold every pairing."""

import csv
import json
import re
from io import StringIO
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from rich.console import Console

from hanamachi.training.evaluation import report
from hanamachi.training.evaluation.files import as_csv
from hanamachi.training.evaluation.page import evaluation_page
from hanamachi.training.evaluation.ranking import rankings
from hanamachi.training.evaluation.results import Evaluation, Forfeits, Row, TeamScore, win_rates_of

MANY = [f"policy-{number}" for number in range(20)]
FEW = MANY[:5]
LONG = [f"search:improve:runs/a-run-with-a-long-name/{name}:worlds=32" for name in MANY]


def rivals(names):
    """The later a policy is named, the stronger it is; the last but one has failed."""
    rng = np.random.default_rng(0)
    pairs = list(combinations(range(len(names)), 2))
    chances = np.array([0.5 - (j - i) / (2 * len(names)) for i, j in pairs])
    scores = (rng.random((len(pairs), 50)) < chances[:, None]).astype(float)
    result = win_rates_of("sample", names, pairs, scores)
    failed = [Forfeits(names[-2], names[0], "sample", 7, 3, 5, "ValueError: no idea", 1)]
    return Evaluation("hanamikoji", {}, names, [], 100, 0, [result], failed)


def partners(names):
    """The later a policy is named, the better it scores, with whomever."""
    scores = []
    for i, j in combinations_with_replacement(range(len(names)), 2):
        mean = min(i, j) + 0.25
        span = mean - 0.1, mean + 0.1
        histogram = [0] * i + [200] + [0] * (25 - i)
        scores.append(TeamScore(names[i], names[j], "argmax", 200, mean, *span, 0, 0, histogram))
    return Evaluation("hanabi:2p", {}, names, [], 200, 0, scores)


def printed(evaluation, matrix=False, width=80):
    console = Console(width=width)
    with console.capture() as shown:
        console.print(report.tables(evaluation, matrix), highlight=False)
    return shown.get()


@pytest.mark.parametrize("played", [rivals, partners])
@pytest.mark.parametrize("names", [MANY, FEW, LONG, MANY[:2]], ids=["many", "few", "long", "two"])
@pytest.mark.parametrize("matrix", [False, True])
def test_it_fits_80_columns_and_names_everybody(played, names, matrix):
    shown = printed(played(names), matrix)
    assert max(map(len, shown.splitlines())) <= 80
    cells = [line.split("│")[2].strip() for line in shown.splitlines() if line.count("│") > 2]
    assert all(name in "".join(cells) for name in names)
    assert "…" not in shown


@pytest.mark.parametrize("played", [rivals, partners])
def test_names_are_printed_as_they_are(played):
    names = ["bot:name=[/tmp/a]", "[red]x", "module:ok:f", "plain"]
    shown = printed(played(names), matrix=True)
    assert all(shown.count(name) >= 2 for name in names)  # in the ranking and in the matrix


@pytest.mark.parametrize("no_color", [True, False])
def test_a_terminal_colours_what_is_won_more_or_less_often_than_not(no_color):
    rates = {"weak": 0.2, "even": 0.5, "strong": 0.8}
    rows = [Row(name, "expert", "sample", 100, rate, 0.1, 0.9) for name, rate in rates.items()]
    console = Console(force_terminal=True, color_system="standard", no_color=no_color)
    with console.capture() as shown:
        console.print(*report.rows_shown(rows))
    for rate, colour in (("20.0", 31), ("80.0", 32)):
        coloured = re.search(rf"\x1b\[{colour}m *{rate}", shown.get())
        assert bool(coloured) != no_color
    assert " 50.0 " in shown.get()


def test_a_path_folds_after_a_slash():
    paths = [f"runs/{name}/of/a/name/that/is/long/policy" for name in ("first", "second")]
    rows = [Row(path, "expert", "sample", 10_000, 0.5, 0.49, 0.51) for path in paths]
    shown = printed(Evaluation("hanamikoji", {}, paths, ["expert"], 10_000, 0, rows))
    cells = [line.split("│")[1].strip() for line in shown.splitlines() if line.count("│") > 2]
    assert "".join(cells) == "".join(paths)
    assert all(cell.endswith("/") for cell in cells if not cell.endswith("policy"))


def test_the_path_of_a_run_is_whole_in_80_columns():
    row = Row("runs/first/policy", "hanamikoji", "sample", 10_000, 0.5, 0.49, 0.51)
    shown = printed(Evaluation("hanamikoji", {}, [row.policy], ["expert"], 10_000, 0, [row]))
    assert "│ runs/first/policy │ hanamikoji │" in shown


@pytest.mark.parametrize("played", [rivals, partners])
def test_the_best_policy_comes_first(played):
    (ranking,) = rankings(played(MANY))
    strength = [MANY.index(name) for name in ranking.policies]
    assert np.corrcoef(strength, range(20))[0, 1] < -0.9
    assert strength == sorted(strength, reverse=True) or played is rivals
    shown = printed(played(MANY))
    places = [
        re.search(rf"│ +{rank} │ {name} ", shown) for rank, name in enumerate(ranking.policies, 1)
    ]
    assert all(places)


def test_the_mean_win_rate_is_that_against_all_others():
    evaluation = rivals(FEW)
    (ranking,), (result,) = rankings(evaluation), evaluation.results
    for name, figures in zip(ranking.policies, ranking.figures, strict=True):
        i = FEW.index(name)
        others = np.delete(result.rate[i], i)
        assert figures[1] == f"{100 * others.mean():.1f}"


@pytest.mark.parametrize(("games", "rough"), [(20, True), (598, True), (600, False)])
def test_intervals_of_elo_from_few_games_are_called_rough(games, rough):
    result = win_rates_of("sample", FEW[:2], [(0, 1)], np.full((1, games // 2), 0.5))
    evaluation = Evaluation("hanamikoji", {}, FEW[:2], [], games, 0, [result])
    assert ("rough" in printed(evaluation)) == ("rough" in evaluation_page(evaluation)) == rough


@pytest.mark.parametrize(("games", "rough"), [(2, True), (199, True), (200, False)])
def test_intervals_of_scores_from_few_games_are_called_rough(games, rough):
    score = TeamScore("expert", "expert", "argmax", games, 22, 21, 23, 0, 0, [0] * 26)
    evaluation = Evaluation("hanabi:2p", {}, ["expert"], [], games, 0, [score])
    assert ("rough" in printed(evaluation)) == ("rough" in evaluation_page(evaluation)) == rough


def test_intervals_of_scores_with_another_partner_are_called_rough_too():
    score = TeamScore("greedy", "expert", "argmax", 10, 17, 15, 19, 0, 0, [0] * 26)
    evaluation = Evaluation("hanabi:2p", {}, ["greedy"], ["expert"], 10, 0, [score])
    assert "rough" in printed(evaluation)
    assert "rough" in evaluation_page(evaluation)


@pytest.mark.parametrize(("won", "margin"), [(10, 32.6), (8, 32.2), (5, 26.2)])
def test_the_caption_names_how_far_an_interval_reaches_from_its_rate(won, margin):
    scores = np.repeat([1.0, 0.0], [won, 10 - won])[None]  # 10 won: 67.4 to 100
    result = win_rates_of("sample", FEW[:2], [(0, 1)], scores)
    (ranking,) = rankings(Evaluation("hanamikoji", {}, FEW[:2], [], 20, 0, [result]))
    assert f"± {margin} " in ranking.caption


def test_an_interval_that_ends_at_the_best_score_counts_by_its_other_end():
    score = TeamScore("expert", "expert", "argmax", 20, 23.75, 21.3, 25, 0.95, 0.05, [0] * 26)
    assert "23.75 ± 2.45" in printed(Evaluation("hanabi:2p", {}, ["expert"], [], 20, 0, [score]))
    with_itself = Evaluation("hanabi:2p", {}, ["expert"], ["expert"], 20, 0, [score])
    assert "23.75 ± 2.45" in printed(with_itself)


def test_the_gap_of_teams_is_between_self_play_and_cross_play():
    (ranking,) = rankings(partners(MANY[:3]))  # means of 0.25, 1.25, 2.25; mixed 0.25, 0.25, 1.25
    assert re.findall(r"\d\.\d\d", "".join(ranking.remarks)) == ["1.25", "0.58", "0.67"]
    assert not rankings(partners(MANY[:1]))[0].remarks


@pytest.mark.parametrize(
    ("pairs", "apart"),
    [
        ([(0, 1), (2, 3)], True),
        ([(0, 1), (1, 2), (2, 3)], False),
        ([(0, 1), (0, 2), (0, 3)], False),
    ],
)
def test_groups_that_never_met_are_not_compared_unwarned(pairs, apart):
    scores = np.random.default_rng(0).choice([0, 0.5, 1], (len(pairs), 300))
    result = win_rates_of("sample", FEW[:4], pairs, scores)
    evaluation = Evaluation("hanamikoji", {}, FEW[:4], [], 600, 0, [result])
    (ranking,) = rankings(evaluation)
    assert bool(ranking.remarks) == apart, "and nothing is said of cycles where there are none"
    assert np.isnan(ranking.pairings).sum() == 16 - 2 * len(pairs)
    assert "NaN" not in json.dumps(evaluation.as_json())


@pytest.mark.parametrize("played", [rivals, partners])
def test_pairings_of_many_are_printed_only_if_asked_for(played):
    (few,), (ranking,) = rankings(played(FEW)), rankings(played(MANY))
    assert few.caption in printed(played(FEW))
    assert ranking.caption not in printed(played(MANY))
    digits = 2 if played is partners else 1
    cells = re.findall(
        rf"\d+\.\d{{{digits}}}\b", printed(played(MANY), True).split(ranking.caption)[1]
    )
    wanted = [f"{value:.{digits}f}" for value in ranking.pairings.flat if not np.isnan(value)]
    assert sorted(cells) == sorted(wanted)


@pytest.mark.parametrize("played", [rivals, partners])
@pytest.mark.parametrize("names", [FEW, MANY], ids=len)
def test_files_hold_every_pairing(played, names):
    evaluation = played(names)
    content = json.loads(json.dumps(evaluation.as_json()))
    rows = list(csv.DictReader(StringIO(as_csv(evaluation))))
    if played is rivals:
        (result,) = content["results"]
        assert np.shape(result["rate"]) == (len(names), len(names))
        expected = [
            (names[i], names[j], result["rate"][i][j])
            for i, j in combinations(range(len(names)), 2)
        ]
        assert [(r["policy"], r["opponent"], float(r["rate"])) for r in rows] == expected
        assert sum(int(row["forfeited"]) + int(row["forfeited_by_other"]) for row in rows) == 7
    else:
        assert [float(row["mean"]) for row in rows] == [row["mean"] for row in content["results"]]
    (ranking,) = rankings(evaluation)
    text = evaluation_page(evaluation)
    assert not re.search(r"<script|<link|https?://|@import|url\(|src=", text)
    for value in ranking.pairings[~np.isnan(ranking.pairings)]:
        assert f">{value:.{1 if played is rivals else 2}f}" in text


def test_who_has_failed_is_told_below_the_ranking():
    shown = printed(rivals(MANY))
    assert re.search(r"policy-18 .* 7 │", shown)
    assert "ValueError: no idea" in shown
    assert "decision 5 of deal 3 against policy-0" in " ".join(shown.split())
    assert "forfeited" not in printed(partners(MANY))
