"""What checked code does to the world: nothing, unless it is allowed. Real workers, real deeds."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import torch
from inductor_debug.engine.pool.job_outcomes import JobOutcome
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug_schema import Event, Finding, Finished, JobRequest, Stage, StageFinished
from zygote import COMMAND

pytestmark = [pytest.mark.torch, pytest.mark.asyncio(loop_scope="module")]

_REPORTS = Finished | StageFinished

MODEL = """
import torch

# inductor-debug: inputs=(torch.randn(2, 4),)
class Net(torch.nn.Module):
    def forward(self, x):
        {inside}
        return x + 1
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WorkerPool]:
    folder = tmp_path_factory.mktemp("pool")
    pool = WorkerPool(interpreter=sys.executable, project_root=str(folder), log_path=folder / "job.log")
    yield pool
    await pool.close()


async def findings_of(pool: WorkerPool, folder: Path, text: str, *args: Any, **kwargs: Any) -> list[Finding]:
    reports = [event for event in await events_of(pool, folder, text, *args, **kwargs) if isinstance(event, _REPORTS)]
    return [finding for report in reports for finding in report.findings]


async def events_of(
    pool: WorkerPool,
    folder: Path,
    text: str,
    allow: tuple[str, ...] = (),
    *,
    follow_main: bool = False,
    infer: bool = False,
    stages: Sequence[Stage] = (Stage.PREVIEW,),
) -> list[Event]:
    (folder / "model.py").write_text(text)
    events: list[Event] = []
    request = JobRequest(
        1,
        str(folder / "model.py"),
        text,
        str(folder),
        list(stages),
        {"name": "x"},
        infer=infer,
        allow=list(allow),
        follow_main=follow_main,
    )
    end = await pool.run(request, events.append, timeout=120)
    assert end.outcome is JobOutcome.FINISHED, end
    return events


def at_load(code: str) -> str:
    return MODEL.format(inside="") + code + "\n"


REFUSED = {
    "open('made', 'w')": ("write", "open('made', 'w')"),
    "import pathlib\npathlib.Path('made').mkdir()": ("write", "pathlib.Path('made').mkdir()"),
    "import os\nos.remove('model.py')": ("write", "os.remove('model.py')"),
    "import shutil\nshutil.copy('model.py', 'made')": ("write", "shutil.copy('model.py', 'made')"),
    "import tempfile, os\nos.replace(tempfile.mkdtemp(), 'made')": ("write", "os.replace(tempfile.mkdtemp(), 'made')"),
    "import os\nos.symlink('model.py', 'made')": ("write", "os.symlink('model.py', 'made')"),
    "import os\nos.system('touch made')": ("subprocess", "os.system('touch made')"),
    "import subprocess\nsubprocess.run(['touch', 'made'])": ("subprocess", "subprocess.run(['touch', 'made'])"),
    "import os\nif os.fork() == 0: os._exit(0)": ("subprocess", "os.fork()"),
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')": (
        "network",
        "urllib.request.urlopen('http://127.0.0.1:9')",
    ),
    "import socket\nsocket.create_connection(('127.0.0.1', 9))": (
        "network",
        "socket.create_connection(('127.0.0.1', 9))",
    ),
}


@pytest.mark.parametrize(("code", "expected"), REFUSED.items(), ids=REFUSED)
async def test_a_deed_is_refused_at_its_expression(
    pool: WorkerPool, tmp_path: Path, code: str, expected: tuple[str, str]
) -> None:
    deed, expression = expected
    text = at_load(code)
    (finding,) = await findings_of(pool, tmp_path, text)
    assert (finding.rule, finding.cause) == ("environment", deed)
    assert f'`allow = ["{deed}"]`' in finding.message
    line = text.splitlines()[finding.range.start.line]
    assert line[finding.range.start.character : finding.range.end.character] == expression
    assert os.listdir(tmp_path) == ["model.py"]


async def test_what_runs_later_is_refused_too(pool: WorkerPool, tmp_path: Path) -> None:
    (finding,) = await findings_of(pool, tmp_path, MODEL.format(inside="import os; os.remove('model.py')"))
    assert (finding.rule, finding.cause, finding.range.start.line) == ("environment", "write", 6)
    assert 'allow it with `allow = ["write"]`' in finding.message
    assert os.listdir(tmp_path) == ["model.py"]


async def test_a_constructor_writes_nowhere(pool: WorkerPool, tmp_path: Path) -> None:
    text = MODEL.format(inside="x.view(3)") + "    def __init__(self):\n        super().__init__()\n"
    text += "        import pathlib; pathlib.Path('a/b').mkdir(parents=True); pathlib.Path('a/b/c').write_text('')\n"
    assert [finding.rule for finding in await findings_of(pool, tmp_path, text)] == ["capture-error"]
    assert os.listdir(tmp_path) == ["model.py"]


@pytest.mark.parametrize("stages", [[Stage.PREVIEW], [Stage.MOCK]])
async def test_what_a_target_writes_while_it_runs_goes_nowhere(
    pool: WorkerPool, tmp_path: Path, stages: list[Stage]
) -> None:
    """The run goes on behind it, where the error is; only that the graph breaks is told of what is written."""
    inside = "torch.save(x, 'a'); open('b', 'w').write('b'); import os; os.makedirs('c/d'); x.view(3)"
    found = await findings_of(pool, tmp_path, MODEL.format(inside=inside), stages=stages)
    assert {finding.rule for finding in found} == {
        "capture-error",
        *(["graph-break"] if Stage.MOCK in stages else []),
    }, found
    assert os.listdir(tmp_path) == ["model.py"]


EXTENSION = """
import torch
from torch.utils.cpp_extension import load

fused = load("fused", sources=["fused.cpp", "fused_kernel.cu"])
load(name="ops_of_mine", sources=["ops.cpp"], is_python_module=False)

# inductor-debug: inputs=(torch.randn(2, 4),)
class Falls(torch.nn.Module):
    def forward(self, x):
        return x * 2 if x.device.type == "cpu" else fused.double(x)

# inductor-debug: inputs=(torch.randn(2, 4),)
class Calls(torch.nn.Module):
    def forward(self, x):
        return {call}
"""


@pytest.mark.parametrize(
    ("call", "name"),
    [("fused.double(x)", "fused.double"), ("torch.ops.ops_of_mine.double(x)", "ops_of_mine.double")],
)
async def test_an_extension_that_a_file_compiles_is_not_built_and_what_does_without_it_runs(
    pool: WorkerPool, tmp_path: Path, call: str, name: str
) -> None:
    (finding,) = await findings_of(pool, tmp_path, EXTENSION.format(call=call))
    assert (finding.rule, finding.target, finding.cause) == ("environment", "Calls", "subprocess")
    assert finding.message.startswith(f"`{name}` is of an extension that is compiled when the file is loaded")
    assert os.listdir(tmp_path) == ["model.py"]


async def test_a_toolkit_that_is_not_there_is_no_mistake_of_the_files(pool: WorkerPool, tmp_path: Path) -> None:
    code = "from torch.utils import cpp_extension\ncpp_extension.CUDA_HOME = None\n"
    code += "def build(home):\n    return home + '/bin/nvcc'\n"
    (finding,) = await findings_of(pool, tmp_path, at_load(code + "build(cpp_extension.CUDA_HOME)"))
    assert (finding.rule, finding.cause) == ("environment", "CUDA")
    assert finding.message.startswith("This asks for CUDA's toolkit, which this machine does not have")
    at_once = "MAJOR = int(torch.version.cuda.split('.')[0])"
    in_steps = "def minor():\n    parts = str(torch.version.cuda).split('.')\n    return int(parts[1])\nminor()"
    for code in (at_once, in_steps):
        (finding,) = await findings_of(pool, tmp_path, at_load(f"import torch\ntorch.version.cuda = None\n{code}"))
        assert (finding.rule, finding.cause) == ("environment", "CUDA")
        assert finding.message.startswith("This asks for the CUDA that torch was built with")


WEIGHTS = """
import torch
from torch.hub import load_state_dict_from_url

class Part(torch.nn.Linear):
    def load_state_dict(self, state, **options):
        del state["head.weight"]
        state.pop("head.bias")
        super().load_state_dict({name.removeprefix("module."): value for name, value in state.items()}, **options)

# inductor-debug: inputs=(torch.randn(2, 4),)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part(4, 4)
        self.part.load_state_dict(load_state_dict_from_url("https://127.0.0.1:9/never-there.pth")["model"])

    def forward(self, x):
        return self.part(x.double())
"""


async def test_a_model_is_built_without_the_weights_that_it_would_download(pool: WorkerPool, tmp_path: Path) -> None:
    (finding, *_) = await findings_of(pool, tmp_path, WEIGHTS)
    assert finding.rule != "environment"
    assert finding.range.start.line == 18
    assert os.listdir(tmp_path) == ["model.py"]


async def test_what_is_allowed_happens(pool: WorkerPool, tmp_path: Path) -> None:
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = threading.Thread(target=lambda: heard.append(server.accept()[0].close()))
        listener.start()
        code = (
            f"import os, socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]})).close()\n"
            "os.system('touch started')\nopen('written', 'w').close()"
        )
        assert await findings_of(pool, tmp_path, at_load(code), ("network", "write", "subprocess")) == []
        listener.join(10)
    assert heard == [None]
    assert sorted(os.listdir(tmp_path)) == ["model.py", "started", "written"]


async def test_torch_save_writes_where_it_may_and_there_are_values(pool: WorkerPool, tmp_path: Path) -> None:
    text = at_load("torch.save({'epoch': 3}, 'made')\ntorch.save(torch.ones(2), 'fake')")
    assert await findings_of(pool, tmp_path, text) == []
    assert not (tmp_path / "made").exists()
    assert await findings_of(pool, tmp_path, text, ("write",)) == []
    assert torch.load(tmp_path / "made") == {"epoch": 3}
    assert not (tmp_path / "fake").exists()


MAIN = """
if __name__ == "__main__":
    import os, pathlib
    os.makedirs("runs/first")
    pathlib.Path("logs").mkdir()
    with open("log.txt", "w") as log:
        log.write("begins")
    Net()(torch.ones(2, 4))
    {more}
"""


async def test_what_a_main_program_writes_goes_nowhere(pool: WorkerPool, tmp_path: Path) -> None:
    text = at_load(MAIN.format(more="os.remove('model.py')"))
    found = await findings_of(pool, tmp_path, text, follow_main=True)
    assert [finding.rule for finding in found] == ["environment", "not-checked"], found
    assert [path.name for path in tmp_path.iterdir()] == ["model.py"]


@pytest.mark.parametrize("deed", ["import urllib.request as u; u.urlopen('http://localhost:9')", "os.system('true')"])
async def test_a_main_program_starts_and_fetches_nothing(pool: WorkerPool, tmp_path: Path, deed: str) -> None:
    found = await findings_of(pool, tmp_path, at_load(MAIN.format(more=deed)), follow_main=True)
    assert found[0].rule == "environment"
    assert "which a check does not do" in found[0].message


HARMLESS = {
    "reading": "open('model.py').read()",
    "temporary files": "import tempfile\nwith tempfile.TemporaryDirectory() as d: open(d + '/a', 'w').close()",
    "a folder that is there": "import os\nos.makedirs('.', exist_ok=True)",
    "a file that is not": "import contextlib, os\nwith contextlib.suppress(FileNotFoundError): os.remove('gone')",
    "nowhere": "import os\nopen(os.devnull, 'w').close()",
    "printing": "import sys\nprint('hello', file=sys.stderr)",
    "a module of the project": "import model as itself",
    "a compiler of torch's": "import torch._inductor.cpp_builder as b\nb.get_cpp_compiler()",
}


async def test_a_constructor_may_write_temporary_files_while_it_is_tried(pool: WorkerPool, tmp_path: Path) -> None:
    text = """
        import os, tempfile, torch
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                with tempfile.TemporaryDirectory() as folder:
                    os.mkdir(os.path.join(folder, "inside"))
                    with open(os.path.join(folder, "one"), "w") as stream:
                        stream.write("8")
                    os.replace(os.path.join(folder, "one"), os.path.join(folder, "inside", "two"))
                    with open(os.path.join(folder, "inside", "two")) as stream:
                        self.layer = torch.nn.Linear(int(stream.read()), 3)
            def forward(self, x):
                return self.layer(x)
        """
    events = await events_of(pool, tmp_path, textwrap.dedent(text), infer=True)
    (report,) = (event for event in events if isinstance(event, StageFinished))
    assert report.inferred is not None
    assert report.inferred.signature == "x f32[batch, 8]"
    assert os.listdir(tmp_path) == ["model.py"]


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS)
async def test_what_touches_nothing_is_not_refused(pool: WorkerPool, tmp_path: Path, code: str) -> None:
    (tmp_path / "helper.py").write_text("x = 1\n")
    assert await findings_of(pool, tmp_path, "import helper\n" + at_load(code)) == []
    assert sorted(os.listdir(tmp_path)) == ["helper.py", "model.py"], "nothing is left, no cache of modules either"


UNHEARD = """
import ctypes, os
library = ctypes.CDLL(None, use_errno=True)
handle = library.creat(b"made", 0o644)
raise ValueError(f"creat gave {handle}")
"""


@pytest.mark.skipif(not os.path.exists("/proc/sys/kernel/osrelease"), reason="Linux alone has Landlock")
async def test_what_c_code_does_by_itself_the_kernel_refuses(pool: WorkerPool, tmp_path: Path) -> None:
    program = "from inductor_debug.worker.landlock import restrict\nprint(restrict(['/tmp'], files=True, network=True))"
    if subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout != b"True\n":
        pytest.skip("this kernel has no Landlock")
    (finding,) = await findings_of(pool, tmp_path, at_load(UNHEARD))
    assert "creat gave -1" in finding.message
    assert os.listdir(tmp_path) == ["model.py"]
    (finding,) = await findings_of(pool, tmp_path, at_load(UNHEARD), ("write",))
    assert "creat gave -1" not in finding.message
    assert sorted(os.listdir(tmp_path)) == ["made", "model.py"]


async def test_temporary_files_are_gone_after_the_job(pool: WorkerPool, tmp_path: Path) -> None:
    text = at_load("import tempfile\nopen(tempfile.mkdtemp() + '/x', 'w').close()\nraise ValueError(tempfile.tempdir)")
    (finding,) = await findings_of(pool, tmp_path, text)
    folder = finding.message.split()[1]
    assert "inductor-debug-held-job-" in folder
    assert not os.path.exists(folder)


async def test_a_check_of_a_project_leaves_its_files_alone(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.format(inside="") + "torch.save({}, 'weights.pt')\nimport layers\n")
    (tmp_path / "layers.py").write_text(MODEL.format(inside="open('log', 'a')"))
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path.parent / "cache")}
    command = [*COMMAND, "check", ".", "--include", "*"]
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=300, check=False)
    state = subprocess.run(["git", "status", "--short"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert state == b"A  layers.py\nA  model.py\n"
