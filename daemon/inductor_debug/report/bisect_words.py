"""Words for bisections, for every form that they are shown in."""

from __future__ import annotations

import shlex

from inductor_debug_schema import BisectDocument, BisectRung, BisectVerdict

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames

VERDICTS = {
    BisectVerdict.NONE: "no layer goes wrong",
    BisectVerdict.FRONT_END: "the front end goes wrong: what captures and rewrites graphs",
    BisectVerdict.BACK_END: "the back end goes wrong: what generates and runs code",
    BisectVerdict.ENVIRONMENT: "the environment is to blame: the model itself, or what is installed",
    BisectVerdict.DATA_TRANSFER: "values change on their way to the accelerator or back",
}


def verdict_sentence(document: BisectDocument) -> str:
    """What a bisection comes to: "Net: no layer goes wrong"."""
    return f"{printable(document.target)}: {VERDICTS[document.verdict]}."


def versions_told(rung: BisectRung) -> str:
    """What a rung ran with: "torch 2.13.0, torch_spyre 1.2"."""
    return ", ".join(f"{package} {version}" for package, version in rung.versions.items())


def typed(command: str, places: FileNames) -> str:
    """A command as one would type it here: with files as they are shown, not as they are called from any folder."""
    subjects = [word.partition("::") for word in shlex.split(command)]
    return shlex.join(places.shown(path) + mark + target for path, mark, target in subjects)
