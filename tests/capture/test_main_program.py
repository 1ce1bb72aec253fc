"""A main program is followed to the models that it calls, is left when it only repeats itself, and touches nothing."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug_schema import Severity, Stage

pytestmark = pytest.mark.torch

HEAD = """
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 4)

    def forward(self, x):
        return self.linear(x)

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)

class Data(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((12,), float(index)), index % 4
"""


def follow(tmp_path: Path, text: str, *argv: str) -> Job:
    path = tmp_path / "model.py"
    job = analyze(path, HEAD + dedent(text), stages=(Stage.PREVIEW, Stage.MOCK), follow_main=True, argv=argv)
    assert job.finished, job.output
    return job


def notes(job: Job) -> list[str]:
    return [finding.message for finding in job.of("not-checked")]


LOOP = """
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, required=True)
    model = Net(parser.parse_args().width)
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.CrossEntropyLoss()
    best = 1e9
    while True:
        for x, y in DataLoader(Data(), batch_size=8, shuffle=True, num_workers=4, persistent_workers=True):
            try:
                optimizer.zero_grad()
                loss = criterion(model(x), y)
                loss.backward()
                optimizer.step()
                best = min(best, loss.item())
            except Exception:
                pass
            finally:
                torch.save(model.state_dict(), "never.pt")

if __name__ == "__main__":
    main()
"""


def test_the_model_of_a_training_loop_that_never_ends_is_checked_with_its_batch(tmp_path: Path) -> None:
    job = follow(tmp_path, LOOP, "--width", "12")
    assert ("Net", "main") in job.targets
    assert [stage.report.state.value for stage in job.stages if stage.target == "Net"] == ["done", "done"]
    assert job.findings == []
    assert not (tmp_path / "never.pt").exists()


def test_what_is_wrong_with_the_batch_is_told_in_the_model(tmp_path: Path) -> None:
    job = follow(tmp_path, LOOP, "--width", "13")
    assert {finding.message for finding in job.of("capture-error")} >= {
        "`self.linear` takes 13 features, `x` [8, 12] has 12"
    }


def test_a_parser_that_wants_more_says_so_and_names_the_option(tmp_path: Path) -> None:
    [told] = follow(tmp_path, LOOP).of("capture-error")
    assert "the following arguments are required: --width" in told.message
    assert "`--argv`" in told.message
    assert told.severity is Severity.WARNING


def test_models_that_were_not_called_are_counted(tmp_path: Path) -> None:
    text = """
    if __name__ == "__main__":
        first, second, third = Net(5), Other(), Net(6)
        first(torch.ones(2, 5))
        open("no such file")
        third(torch.ones(2, 6))
    """
    job = follow(tmp_path, text)
    assert notes(job) == [
        "The main program called 1 of 3 models before it ended with an exception; not called: Other, Net."
    ]
    [told] = job.of("capture-error")
    assert "FileNotFoundError" in told.message
    assert job.marked(told) == 'open("no such file")'


def test_what_is_called_inside_a_model_is_no_target_and_instances_are(tmp_path: Path) -> None:
    text = """
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Net(5), Net(4)

        def forward(self, x):
            return self.second(torch.relu(self.first(x)))

    if __name__ == "__main__":
        nn.Softmax(-1)(Pair()(torch.ones(2, 5)))
        Net(7)(torch.ones(1, 7))
        Net(8)(torch.ones(1, 8))
    """
    assert follow(tmp_path, text).targets[:3] == [("Pair", "main"), ("Net", "main"), ("Net#2", "main")]


def test_a_compiled_training_step_is_the_target(tmp_path: Path) -> None:
    text = """
    def main():
        model = Net(5)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        @torch.compile
        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        for _ in range(1000):
            print(step(torch.ones(2, 5), torch.ones(2, 4)).item())

    if __name__ == "__main__":
        main()
    """
    job = follow(tmp_path, text)
    assert job.targets[0] == ("step", "torch.compile")
    assert [stage.report.state.value for stage in job.stages if stage.target == "step"] == ["done", "done"]
    assert notes(job) == []


def test_a_loop_in_another_thread_ends_too(tmp_path: Path) -> None:
    text = """
    import threading

    def work(model):
        while True:
            model(torch.ones(2, 5))

    if __name__ == "__main__":
        thread = threading.Thread(target=work, args=(Net(5),))
        thread.start()
        thread.join()
    """
    job = follow(tmp_path, text)
    assert ("Net", "main") in job.targets
    assert job.findings == []


def test_a_model_that_looks_at_values_is_run_with_real_ones_to_reach_the_next(tmp_path: Path) -> None:
    text = """
    class Looks(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(x) if x.sum().item() > 0 else x

    if __name__ == "__main__":
        Other()(Looks()(torch.ones(2, 3)))
    """
    job = follow(tmp_path, text)
    assert job.targets[:2] == [("Looks", "main"), ("Other", "main")]
    assert notes(job) == []


def test_a_file_without_a_main_program_says_so(tmp_path: Path) -> None:
    assert notes(follow(tmp_path, "")) == ['There is no `if __name__ == "__main__":` in this file to follow.']


def test_a_script_that_trains_when_it_is_loaded_is_followed_as_well(tmp_path: Path) -> None:
    text = """
    model = Net(5)
    while True:
        model(torch.ones(2, 5))
    """
    job = follow(tmp_path, text)
    assert job.targets[0] == ("Net", "main")
    assert notes(job) == []
