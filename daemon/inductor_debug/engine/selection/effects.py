"""What loading a file would do to the world around it: write, connect, start processes, load data, train.

Read from the calls that run at load, by the names of the functions called; nothing is executed. A function that only
may do such a thing, because somebody else's code does it, is not known here: `worker` refuses it when it happens.
Options of a command line that all have defaults are read without harm by a file which keeps its work for its main
program; without such a one, a file that reads them is about to do its work.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum

from inductor_debug.engine.selection.outline import FileSketch, LoadingCode, is_main_guard


class TopLevelEffect(str, Enum):
    """What a file would do."""

    WRITES = "writes"
    NETWORK = "network"
    PROCESS = "process"
    COMMAND_LINE = "command-line"
    EXITS = "exits"
    LOADS = "loads"
    TRAINS = "trains"


@dataclass(frozen=True, slots=True)
class TopLevelDeed:
    """One effect, and the zero-based line that has it."""

    effect: TopLevelEffect
    line: int


_FUNCTIONS = {
    TopLevelEffect.WRITES: """
        os.makedirs os.mkdir os.remove os.unlink os.rename os.replace os.rmdir os.removedirs os.symlink os.link
        shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.move shutil.rmtree shutil.unpack_archive
        shutil.make_archive torch.save torch.utils.tensorboard.SummaryWriter tensorboardX.SummaryWriter
        torch.jit.save torch.onnx.export numpy.save numpy.savez numpy.savez_compressed numpy.savetxt joblib.dump
        cv2.imwrite logging.FileHandler""",
    TopLevelEffect.NETWORK: """
        torch.hub.load torch.hub.load_state_dict_from_url torch.hub.download_url_to_file wandb.init wandb.login
        huggingface_hub.hf_hub_download huggingface_hub.snapshot_download huggingface_hub.login socket.create_connection
        urllib.request.urlopen urllib.request.urlretrieve nltk.download datasets.load_dataset mlflow.start_run
        wget.download gdown.download gdown.cached_download""",
    TopLevelEffect.PROCESS: """
        os.system os.popen os.execv os.execvp os.execve os.fork os.spawnl os.spawnv os.posix_spawn pty.spawn
        multiprocessing.Process multiprocessing.Pool torch.multiprocessing.spawn torch.multiprocessing.Process
        torch.distributed.init_process_group""",
    TopLevelEffect.COMMAND_LINE: "input fire.Fire absl.app.run tyro.cli",
    TopLevelEffect.EXITS: "sys.exit exit quit os._exit os.abort",
    TopLevelEffect.LOADS: """
        torch.load torch.jit.load safetensors.torch.load_file numpy.load numpy.loadtxt pandas.read_csv
        pandas.read_json pandas.read_parquet pandas.read_excel pandas.read_pickle joblib.load""",
}
_READING_OPTIONS = ("parse_args", "parse_known_args")
_PACKAGES = {TopLevelEffect.NETWORK: ("requests.", "httpx."), TopLevelEffect.PROCESS: ("subprocess.",)}
"""Packages of which every function has the effect."""
_METHODS = {
    TopLevelEffect.WRITES: """
        write_text write_bytes mkdir savefig to_csv to_json to_parquet to_pickle save_pretrained extractall
        imwrite""",
    TopLevelEffect.COMMAND_LINE: "parse_args parse_known_args parse_args_into_dataclasses",
}
_BY_FUNCTION = {name: effect for effect, names in _FUNCTIONS.items() for name in names.split()}
_BY_METHOD = {name: effect for effect, names in _METHODS.items() for name in names.split()}


def first_deed(outline: FileSketch, code: LoadingCode) -> TopLevelDeed | None:
    """The first thing by which loading the file would touch the world; None where nothing is known of one."""
    harmless = _reads_options_alone(outline)
    deeds = [
        TopLevelDeed(effect, call.lineno - 1)
        for call in code.calls
        if (effect := _effect_of(call, outline)) is not None and not (harmless and _reads_options(call))
    ]
    deeds += [TopLevelDeed(TopLevelEffect.TRAINS, loop.lineno - 1) for loop in code.loops if _trains(loop, outline)]
    return min(deeds, key=lambda deed: deed.line, default=None)


def _reads_options(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _READING_OPTIONS


def _reads_options_alone(outline: FileSketch) -> bool:
    """Whether the command line of a parser that the file makes may be empty, and its work is that of a main program."""
    if not any(isinstance(node, ast.If) and is_main_guard(node.test) for node in outline.tree.body):
        return False
    calls = [node for node in ast.walk(outline.tree) if isinstance(node, ast.Call)]
    makes_parser = any((outline.dotted(call.func) or "").endswith("ArgumentParser") for call in calls)
    return makes_parser and not any(map(_asks_for_argument, calls))


def _asks_for_argument(call: ast.Call) -> bool:
    """Whether a call declares what must be on the command line."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method not in ("add_argument", "add_subparsers"):
        return False
    if any(keyword.arg == "required" and not _is(keyword.value, False) for keyword in call.keywords):
        return True
    first = call.args[0] if call.args else None
    name = first.value if isinstance(first, ast.Constant) else None
    optional = any(
        keyword.arg == "nargs" and getattr(keyword.value, "value", "") in ("?", "*") for keyword in call.keywords
    )
    return method == "add_argument" and isinstance(name, str) and not name.startswith("-") and not optional


def _effect_of(call: ast.Call, outline: FileSketch) -> TopLevelEffect | None:
    name = outline.dotted(call.func) or ""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in _BY_FUNCTION or method in _BY_METHOD:
        return _BY_FUNCTION.get(name) or _BY_METHOD[method]
    for effect, packages in _PACKAGES.items():
        if name.startswith(packages):
            return effect
    if (name == "open" or method == "open") and _opens_for_writing(call, skipped=name == "open"):
        return TopLevelEffect.WRITES
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    return TopLevelEffect.NETWORK if _is(keywords.get("download"), True) else None


def _opens_for_writing(call: ast.Call, *, skipped: bool) -> bool:
    """Whether the mode, which comes after the path in `open(path, mode)` and first in `path.open(mode)`, writes."""
    modes = [*call.args[1 if skipped else 0 :][:1], *(item.value for item in call.keywords if item.arg == "mode")]
    said = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(len(mode) <= 4 and set(mode) & set("wax+") and set(mode) <= set("rwaxbt+U") for mode in said)


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _trains(loop: ast.For | ast.AsyncFor | ast.While, outline: FileSketch) -> bool:
    """Whether a loop computes gradients, or goes through a data loader."""
    calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call)]
    if any(isinstance(call.func, ast.Attribute) and call.func.attr == "backward" for call in calls):
        return True
    if isinstance(loop, ast.While):
        return False
    loaders = _loaders(outline)
    return any(
        (isinstance(node, ast.Name) and node.id in loaders) or _makes_loader(node, outline)
        for node in ast.walk(loop.iter)
    )


def _loaders(outline: FileSketch) -> set[str]:
    """The names that are given a data loader anywhere in the file."""
    return {
        target.id
        for node in ast.walk(outline.tree)
        if isinstance(node, ast.Assign) and _makes_loader(node.value, outline)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _makes_loader(node: ast.AST, outline: FileSketch) -> bool:
    name = outline.dotted(node.func) if isinstance(node, ast.Call) else None
    return name is not None and name.rpartition(".")[2] == "DataLoader"
