"""A file's text runs as the module that Python would make of the file, saved or not."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze, in_child
from inductor_debug.capture.runtime.absent_libraries import AbsentImports
from inductor_debug.capture.runtime.loading import ImportWatch, Overlay, overlay, place_of, search_path
from inductor_debug_schema import FileStatus, StageFinished, StageState

pytestmark = pytest.mark.torch


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")


def run(path: Path, text: str, root: Path, expression: str) -> object:
    """Executes `text` as `path` in a child; the value of `expression` in the module afterwards."""

    def work() -> object:
        place = place_of(str(path), dedent(text))
        with search_path(place, str(root)), overlay(place, dedent(text), str(root), AbsentImports()) as over:
            over.execute()
            assert isinstance(over, Overlay)
            for failure in over.absent.failures:
                raise failure
            return eval(expression, {**vars(over.module), "sys": sys, "module": over.module})

    return in_child(work)[0]


def test_a_lone_file_is_a_module_of_its_own_name(tmp_path: Path) -> None:
    seen = run(tmp_path / "model.py", "x = __name__, __package__, __file__", tmp_path, "x")
    assert seen == ("model", "", str(tmp_path / "model.py"))


@pytest.mark.parametrize("name", ["types.py", "not-a-name.py", "class.py", "1.py"])
def test_a_name_that_is_taken_or_no_name_is_replaced(tmp_path: Path, name: str) -> None:
    seen = run(tmp_path / name, "x = __name__, __file__", tmp_path, "x + (sys.modules['types'].__name__,)")
    assert isinstance(seen, tuple)
    assert seen[0].startswith("inductor_debug_file_")
    assert seen[1:] == (str(tmp_path / name), "types")


def test_relative_imports_work_inside_packages(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/pkg/__init__.py": "from .sub import model\n",
            "src/pkg/sub/__init__.py": "",
            "src/pkg/sub/model.py": "raise RuntimeError('the text on disk must not run')",
            "src/pkg/layers.py": "WIDTH = 7",
            "top.py": "HEIGHT = 3",
        },
    )
    text = (
        "from ..layers import WIDTH\nfrom pkg import layers\nimport top\nx = (__name__, __package__, WIDTH, top.HEIGHT)"
    )
    path = tmp_path / "src/pkg/sub/model.py"
    assert run(path, text, tmp_path, "x") == ("pkg.sub.model", "pkg.sub", 7, 3)


def test_the_projects_own_folder_is_a_package_only_for_files_that_say_so(tmp_path: Path) -> None:
    write(tmp_path, {"net/__init__.py": "", "net/model/__init__.py": "", "net/model/layers.py": "", "net/top.py": ""})
    root = str(tmp_path / "net")

    def name(file: str, text: str) -> str:
        return place_of(f"{root}/{file}", text, root).name

    assert name("model/layers.py", "from .other import x\nimport torch") == "model.layers"
    assert name("model/layers.py", "from ..top import x") == "net.model.layers"
    assert name("model/layers.py", "from net.top import x") == "net.model.layers"
    assert name("top.py", "import torch") == "top"
    assert name("top.py", "from . import model") == "net.top"
    assert place_of(f"{root}/model/layers.py", "import torch").name == "net.model.layers"


def test_a_namespace_package_may_have_a_module_of_its_own_name(tmp_path: Path) -> None:
    write(tmp_path, {"gym/walker/models/layers.py": "WIDTH = 7", "gym/walker/models/walker.py": ""})
    path = tmp_path / "gym/walker/models/walker.py"
    text = "from walker.models.layers import WIDTH\nx = (__name__, WIDTH)"
    for root in (tmp_path, path.parent):
        assert run(path, text, root, "x") == ("walker.models.walker", 7)
    beside = "from walker.models.layers import WIDTH\nimport walker\nx = (WIDTH, hasattr(walker, '__path__'))"
    assert run(path.with_name("net.py"), beside, tmp_path, "x") == (7, True)


def test_a_package_in_a_namespace_package_may_have_a_module_of_its_name(tmp_path: Path) -> None:
    text = "from ..functions import WIDTH\nx = (__name__, WIDTH)"
    write(tmp_path, {"libs/net/modules/__init__.py": "from .net import *", "libs/net/modules/net.py": text})
    write(tmp_path, {"libs/net/functions/__init__.py": "WIDTH = 7"})
    assert run(tmp_path / "libs/net/modules/net.py", text, tmp_path, "x") == ("net.modules.net", 7)


def test_a_namespace_package_may_have_packages_one_of_which_has_its_name(tmp_path: Path) -> None:
    text = "from depth.models.core import WIDTH\nx = (__name__, WIDTH)"
    write(tmp_path, {"depth/models/__init__.py": "", "depth/models/depth/__init__.py": "from .net import x"})
    write(tmp_path, {"depth/models/core.py": "WIDTH = 7", "depth/models/depth/net.py": text})
    for root in (tmp_path, tmp_path / "depth"):
        assert run(tmp_path / "depth/models/depth/net.py", text, root, "x") == ("depth.models.depth.net", 7)


def test_imports_start_in_every_folder_of_the_project_around_the_file(tmp_path: Path) -> None:
    write(tmp_path, {"part/common/sizes.py": "WIDTH = 7", "part/models/net.py": "", "sizes.py": "WIDTH = 3"})
    path = tmp_path / "part/models/net.py"
    assert run(path, "from common.sizes import WIDTH\nimport sizes\nx = (WIDTH, sizes.WIDTH)", tmp_path, "x") == (7, 3)
    with pytest.raises(AssertionError, match="No module named 'common'"):
        run(path, "import common.sizes", path.parent, "1")


def test_a_folder_without_init_is_a_package_for_relative_imports(tmp_path: Path) -> None:
    write(tmp_path, {"run/pkg/layers.py": "WIDTH = 7\n"})
    seen = run(tmp_path / "run/pkg/model.py", "from .layers import WIDTH\n", tmp_path, "__name__, WIDTH")
    assert seen == ("pkg.model", 7)


def test_a_package_may_lie_in_a_folder_that_relative_imports_make_one(tmp_path: Path) -> None:
    write(tmp_path, {"lib/psa/modules/__init__.py": "", "lib/psa/sizes.py": "WIDTH = 7\n"})
    seen = run(tmp_path / "lib/psa/modules/mask.py", "from ..sizes import WIDTH\n", tmp_path, "__name__, WIDTH")
    assert seen == ("psa.modules.mask", 7)


@pytest.mark.parametrize("home", ["src/helpers", "sub", "src/sub/tools"])
def test_imports_mean_the_module_that_has_the_names(home: str, tmp_path: Path) -> None:
    write(tmp_path, {"utils/__init__.py": "OTHER = 1\n", f"{home}/utils.py": "WIDTH = 7\n", "src/empty/x.py": ""})
    place = tmp_path / ("sub" if home == "sub" else "src/sub") / "model.py"
    assert run(place, "from utils import WIDTH\n", tmp_path, "WIDTH") == 7
    assert run(place, "from utils import OTHER\n", tmp_path, "OTHER") == 1


@pytest.mark.parametrize("packages", [(), ("src/__init__.py", "src/net/__init__.py")])
def test_what_a_neighbour_imports_may_lie_in_a_folder_of_the_project(packages: tuple[str, ...], tmp_path: Path) -> None:
    helpers = {"src/utils/__init__.py": "", "src/utils/utils.py": "WIDTH = 7\n", "far/utils.py": "WIDTH = 3\n"}
    write(tmp_path, dict.fromkeys(packages, ""))
    write(tmp_path, {"src/net/decoder.py": "from utils import WIDTH\n", "src/net/model.py": "", **helpers})
    assert run(tmp_path / "src/net/model.py", "from decoder import WIDTH\n", tmp_path, "WIDTH") == 7


def test_a_package_without_init_is_meant_where_a_module_of_its_name_has_not_what_is_wanted(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"part/utils/masking.py": "WIDTH = 7\n", "part/layers/utils.py": "", "utils/masking.py": "WIDTH = 3\n"},
    )
    text = "import json, utils.masking\nfrom utils.masking import WIDTH\n"
    assert run(tmp_path / "part/layers/attention.py", text, tmp_path, "WIDTH, utils.masking.__file__") == (
        7,
        str(tmp_path / "part/utils/masking.py"),
    )


def test_a_library_is_missing_where_only_a_package_has_a_module_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"pose/__init__.py": "", "pose/tools/__init__.py": "", "pose/tools/misc.py": "WIDTH = 7\n"})
    write(tmp_path, {"pose/tools/pictures.py": "from .misc import WIDTH\n", "pose/tools/turns.py": "import pictures\n"})
    with pytest.raises(AssertionError, match="No module named 'pictures'"):
        run(tmp_path / "pose/net.py", "from .tools import turns\n", tmp_path, "1")


ODD = "exec(compile('import missing_module', __file__[:-8] + 'notes.txt', 'exec'))\n"
HOSTILE = "raise ImportError('No module named 5', name=5)\n"


@pytest.mark.parametrize(
    "text", ["from utils import DEPTH\n", "import utils.masking\n", "import missing_module\n", ODD, HOSTILE]
)
def test_an_import_that_no_folder_has_fails_as_it_does(text: str, tmp_path: Path) -> None:
    write(tmp_path, {"utils.py": "import model\n", "sub/utils.py": "HEIGHT = 1\n", "notes.txt": "(no Python"})
    with pytest.raises(AssertionError, match=r"cannot import name 'DEPTH'|No module named"):
        run(tmp_path / "model.py", text, tmp_path, "1")


@pytest.mark.parametrize("missing", ["import base\nclass Two(base.Base): pass", "from base import Base as Two"])
def test_of_modules_that_import_each_other_the_one_is_first_that_can_be(missing: str, tmp_path: Path) -> None:
    write(tmp_path, {"other.py": f"{missing}\ndef helper(): return 3\n"})
    text = "import other\nclass Base: pass\n"
    seen = "other.helper(), issubclass(other.Two, Base), sys.modules['base'] is module"
    assert run(tmp_path / "base.py", text, tmp_path, seen) == (3, True, True)


def test_modules_that_miss_something_in_each_other_fail_as_they_do(tmp_path: Path) -> None:
    write(tmp_path, {"other.py": "from base import Base\ndef helper(): return 3\n"})
    with pytest.raises(BaseException, match="cannot import name 'Base' from partially initialized module 'base'"):
        run(tmp_path / "base.py", "from other import helper\nclass Base: pass\n", tmp_path, "0")


def test_unsaved_text_is_what_inspection_and_tracebacks_show(tmp_path: Path) -> None:
    write(tmp_path, {"model.py": "stale = 1\n"})
    text = """
        import dataclasses, inspect, traceback

        @dataclasses.dataclass
        class Config:
            width: "int" = 3

        def f():
            raise ValueError

        try:
            f()
        except ValueError:
            lines = traceback.format_exc()
        x = inspect.getsource(Config), "raise ValueError" in lines, Config().width
    """
    source, quoted, width = run(tmp_path / "model.py", text, tmp_path, "x")  # type: ignore[misc]
    assert "width" in source
    assert (quoted, width) == (True, 3)


def test_only_the_users_files_are_dependencies_and_only_libraries_can_be_preloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("safetensors", "safetensors.torch"):  # the job is forked from here, where another test may need it
        monkeypatch.delitem(sys.modules, name, raising=False)
    write(
        tmp_path,
        {"helper.py": "import json\nfrom safetensors import torch as st\n", "pkg/__init__.py": "", "pkg/deep.py": ""},
    )
    job = analyze(
        tmp_path / "model.py", "import helper, pkg.deep, colorsys, torch\nfrom safetensors.torch import save\n"
    )
    names = [str(Path(path).relative_to(tmp_path)) for path in job.loaded.dependencies]
    assert names == ["helper.py", "pkg/__init__.py", "pkg/deep.py"]
    assert job.loaded.modules == ["safetensors.torch"]
    assert not list(tmp_path.rglob("model*.pyc"))


def test_libraries_are_imported_outside_of_whatever_the_importer_runs_in(tmp_path: Path) -> None:
    seen: list[str] = []

    @contextlib.contextmanager
    def around():  # type: ignore[no-untyped-def]
        seen.append("in")
        yield
        seen.append("out")

    def work() -> tuple[list[str], bool]:
        sys.modules.pop("colorsys", None)
        with ImportWatch(around).active():
            seen.clear()
            import colorsys
        return seen, colorsys is not None

    assert in_child(work)[0] == (["in", "out"], True)


def status_of(tmp_path: Path, text: str) -> Job:
    return analyze(tmp_path / "file.py", text)


@pytest.mark.parametrize(
    ("text", "status", "rules"),
    [
        ("", FileStatus.NO_TARGET, []),
        ("\ufeff# only a comment", FileStatus.NO_TARGET, []),
        ("x = 1\r\ny = 2\r\n", FileStatus.NO_TARGET, []),
        ("\x00\x01\x02ELF", FileStatus.FAILED, ["syntax-error"]),
        ("Dear reader,\nthis is no Python.\n", FileStatus.FAILED, ["syntax-error"]),
        ("return 3\n", FileStatus.FAILED, ["syntax-error"]),
        ("(" * 3000, FileStatus.FAILED, ["syntax-error"]),
        ("x = " + "-" * 100000 + "1", FileStatus.FAILED, ["syntax-error"]),
        ("values = [" + "0.25, " * 170000 + "]\n", FileStatus.NO_TARGET, []),
        ("class C(BaseException): pass\nraise C('odd')\n", FileStatus.FAILED, ["capture-error"]),
        ("import os\nos.chdir('/no/such/folder')\n", FileStatus.FAILED, ["capture-error"]),
        ("raise ImportError\n", FileStatus.FAILED, ["import-error"]),
        ("x: int = '\ud800'\n", FileStatus.FAILED, ["syntax-error"]),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str) else None,
)
def test_any_text_gets_a_clear_answer(tmp_path: Path, text: str, status: FileStatus, rules: list[str]) -> None:
    job = status_of(tmp_path, text)
    assert job.status is status
    assert [finding.rule for finding in job.findings] == rules


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("import nowhere_at_all", "nowhere_at_all"),
        ("from json import no_such_name", "cannot import name 'no_such_name' from 'json'"),
        ("from .absent import part", "{package}/absent"),
        ("from .parts.absent import part", "{package}/parts/absent"),
        ("from .. parts.absent import part", ""),
        ("from .parts import part", ""),
    ],
)
def test_a_failed_import_has_the_library_for_its_cause_or_the_path_within_a_package(
    line: str, cause: str, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    for folder in (package, package / "parts"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    cause = cause.format(package=package)
    [finding] = analyze(package / "model.py", f"{line}\n").findings
    assert finding.rule == "import-error"
    assert finding.cause.startswith(cause)
    assert bool(finding.cause) == bool(cause)


def test_a_name_that_a_package_makes_when_it_is_asked_for_is_no_module_that_lacks(tmp_path: Path) -> None:
    made = "def __getattr__(name):\n    if name == 'Kept':\n        return 3\n    raise AttributeError(name)\n"
    write(tmp_path, {"lazy/__init__.py": made})
    [finding] = analyze(tmp_path / "model.py", "from lazy import Kept, Gone\n").findings
    assert finding.rule == "import-error"
    assert finding.message.startswith("ImportError: cannot import name 'Gone' from 'lazy'")


@pytest.mark.parametrize(
    "files",
    [
        {"parts/__init__.py": "from .base import *\n", "parts/base.py": "KEPT = 3\n"},
        {"site-packages/parts/__init__.py": "KEPT = 3\n"},
    ],
    ids=["a package that has what another file has", "an installed library"],
)
def test_a_name_that_is_no_more_is_no_module(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """scipy.signal has no `kaiser` any more, and never had a module that is called so."""
    write(tmp_path, files)
    text = "import sys\nsys.path.append('site-packages')\nfrom parts import KEPT, gone\n"
    [finding] = analyze(tmp_path / "model.py", text.replace("site-p", f"{tmp_path}/site-p")).findings
    assert finding.rule == "import-error"
    assert finding.message.startswith("ImportError: cannot import name 'gone' from 'parts'")


def test_a_project_may_be_called_as_the_package_in_it(tmp_path: Path) -> None:
    project = tmp_path / "shapes"
    write(project, {"pyproject.toml": "", "shapes/__init__.py": "", "shapes/shapes.py": "class Net: pass\n"})
    write(project, {"scripts/__init__.py": "", "scripts/sizes.py": "WIDTH = 7\n"})
    text = "from shapes.shapes import Net\nfrom scripts.sizes import WIDTH\n"
    assert analyze(project / "scripts" / "main.py", text).findings == []


def test_a_class_whose_base_could_not_be_imported_may_have_what_it_is_asked_for(tmp_path: Path) -> None:
    text = """from torch import nn
from nowhere import Settings
class Own(Settings):
    pass
class Net(nn.Module):
    def __init__(self, path='x'):
        super().__init__()
        self.layer = nn.Linear(Own.from_file(path).width, 4)
    def forward(self, x):
        return self.layer(x)
"""
    job = status_of(tmp_path, text)
    assert [finding.rule for finding in job.findings] == ["import-error"]


@pytest.mark.parametrize("line", ["from . import nms_cuda", "import nms_cuda", "from .nms_cuda import nms"])
def test_an_extension_that_nobody_built_is_told_with_what_builds_it(line: str, tmp_path: Path) -> None:
    setup = "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('ops.nms_cuda', ['nms.cu'])\n"
    write(tmp_path, {"ops/__init__.py": "from .nms import *\n", "ops/setup.py": setup, "ops/nms.py": f"{line}\n"})
    [finding] = analyze(tmp_path / "ops" / "nms.py", f"{line}\n").findings
    module = "nms_cuda" if line.startswith("import") else "ops.nms_cuda"
    expected = f"There is no module named '{module}' in the interpreter that runs this file."
    expected += " It is an extension that setup.py builds. What does without it was checked all the same."
    assert (finding.rule, finding.message) == ("import-error", expected)


@pytest.mark.parametrize(
    ("around", "rule", "cause"),
    [
        ("raise RuntimeError('no font')", "capture-error", "no font"),
        ("import nowhere\nif nowhere.VERSION > 2: pass", "import-error", "no module named 'nowhere'"),
    ],
)
def test_a_file_is_checked_though_the_package_around_it_cannot_be_imported(
    around: str, rule: str, cause: str, tmp_path: Path
) -> None:
    write(tmp_path, {"pose/__init__.py": f"{around}\n", "pose/sizes.py": "WIDTH = 7\n"})
    text = "from torch import nn\nfrom .sizes import WIDTH\nclass Net(nn.Linear):\n"
    text += "    def __init__(self):\n        super().__init__(WIDTH, 2)\n"
    job = analyze(tmp_path / "pose" / "net.py", text)
    [finding] = job.findings
    assert (finding.rule, finding.path) == (rule, str(tmp_path / "pose" / "__init__.py"))
    assert cause in finding.message.lower()
    assert finding.message.endswith("What does without it was checked all the same.")
    assert [event.report.state for event in job.events if isinstance(event, StageFinished)] == [StageState.DONE]


def test_a_file_that_needs_what_the_package_around_it_lacks_fails_as_that_does(tmp_path: Path) -> None:
    write(tmp_path, {"pose/__init__.py": "raise RuntimeError('no font')\nWIDTH = 7\n"})
    [finding] = analyze(tmp_path / "pose" / "net.py", "from pose import WIDTH\nclass Net: width = WIDTH + 1\n").findings
    assert "no font" in finding.message


SUBMODULES = '[submodule "a"]\n\tpath = utils\n\turl = x\n[submodule "b"]\n\tpath = third/tacotron2\n\turl = y\n'


@pytest.mark.parametrize(
    ("text", "submodule"),
    [
        ("from utils.meters import Meter\n", "utils"),
        ("import sys\nsys.path.append('third/tacotron2')\nfrom layers import STFT\n", "third/tacotron2"),
        ("import layers\n", ""),
    ],
)
def test_what_a_submodule_has_that_was_not_fetched_is_told_with_how_to_fetch_it(
    text: str, submodule: str, tmp_path: Path
) -> None:
    write(tmp_path, {".gitmodules": SUBMODULES})
    (tmp_path / "utils").mkdir()
    [finding] = analyze(tmp_path / "model.py", text).findings
    told = f" The git submodule '{submodule}' was not fetched: run `git submodule update --init`."
    assert (told in finding.message) == bool(submodule)
    assert ("submodule" in finding.message) == bool(submodule)


def test_a_copy_of_a_part_of_a_package_says_once_a_file_that_neighbours_are_missing(tmp_path: Path) -> None:
    write(tmp_path, {"nets/__init__.py": "from .alexnet import AlexNet\nfrom .vgg import VGG\nfrom .own import Own\n"})
    write(tmp_path, {"nets/own.py": "class Own: pass\n"})
    text = "from ..builder import BACKBONES\nfrom .registry import register\nimport nowhere\n"
    findings = analyze(tmp_path / "nets" / "own.py", text + "class Own: pass\n").findings
    told = sorted((Path(finding.path).name, finding.range.start.line, finding.rule) for finding in findings)
    assert told == [("__init__.py", 0, "import-error"), ("own.py", 0, "import-error"), ("own.py", 2, "import-error")]


def test_a_name_that_a_module_lacks_is_no_module(tmp_path: Path) -> None:
    write(tmp_path, {"ops/__init__.py": "", "ops/parts.py": "WIDTH = 7"})
    [finding] = analyze(tmp_path / "ops" / "nms.py", "from .parts import HEIGHT\n").findings
    assert "cannot import name 'HEIGHT'" in finding.message


@pytest.mark.parametrize("package", [True, False], ids=["package", "namespace"])
def test_a_circle_of_imports_that_python_takes_is_none_of_a_missing_name(tmp_path: Path, package: bool) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    if package:
        (folder / "__init__.py").write_text("")
    (folder / "ops.py").write_text("import genotypes\nwidth = 3\n")
    (tmp_path / "genotypes.py").write_text("from models import ops\n\ndef width():\n    return ops.width\n")
    text = """
    import torch
    from torch import nn
    from models import ops
    import genotypes

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(genotypes.width(), 4)

        def forward(self, x):
            return self.layer(x)
    """
    job = analyze(folder / "cells.py", dedent(text), root=tmp_path)
    assert (job.status, job.findings) == (FileStatus.CLEAN, [])
