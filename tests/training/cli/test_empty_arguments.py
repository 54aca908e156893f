"""An empty argument, as of a variable that is not set, is refused before anything is written."""

from pathlib import Path

import pytest

from hanamachi.training.cli import main as cli


@pytest.mark.parametrize("out", [["--out", ""], ["--out="]])
def test_an_empty_name_of_a_folder_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    out: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["dataset", "hanamikoji", "--policy", "greedy", "--games", "1", *out])
    assert ended.value.code == 2
    assert "empty" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
