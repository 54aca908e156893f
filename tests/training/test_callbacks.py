"""What a run shows while it learns."""

from types import SimpleNamespace

import pytest
from rich.console import Console

from hanamachi.training.callbacks import ShowProgress, progress_bar

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("teacher", ["module:ok:name={a: 1}", "bots:[/tmp/a]", "[red]x"])
def test_the_bar_names_a_teacher_as_it_is(teacher):
    learner = SimpleNamespace(num_timesteps=0)
    bar = progress_bar()
    ShowProgress(bar, f"cloning {teacher}", learner, 1000).show()
    console = Console(width=200)
    with console.capture() as shown:
        console.print(bar.get_renderable())
    assert f"cloning {teacher}" in shown.get()
