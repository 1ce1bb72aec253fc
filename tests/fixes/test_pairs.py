"""Fixes with real workers: a file before, and what all of its proved fixes together make of it.

A folder of `tests/fixtures/fixes` is one such pair, with the libraries that it uses in a folder of it; the file after
must have none of the findings that were mended.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.fixes.edits import Fix, applied
from inductor_debug.engine.fixes.fix_candidates import FIXABLE
from inductor_debug.engine.fixes.fixed_files import fixed
from inductor_debug.engine.fixes.rewrites.offers import rewrites
from inductor_debug.engine.fixes.tried_edits import first_proved, together
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import Position, Range

pytestmark = [pytest.mark.torch, pytest.mark.asyncio(loop_scope="module")]

FIXTURES = Path(__file__).parents[1] / "fixtures"
PAIRS = sorted((FIXTURES / "fixes").iterdir())
REWRITTEN = sorted((FIXTURES / "rewrites").iterdir())
UNCOMPARED = ("calls", "state")
"""Pairs whose fixes claim nothing of results: where nothing ran before, where calls no longer share anything."""
EVERYWHERE = Range(Position(0, 0), Position(1000, 0))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    settings = SettingsResolver(environ={}, command_line={})
    cache = tmp_path_factory.mktemp("cache")
    made = Engine(settings_for=settings, listener=lambda update: None, cache_folder=cache, jobs=1)
    yield made
    await made.shutdown()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
async def test_all_fixes_of_a_file_together_mend_it(engine: Engine, pair: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for folder in filter(Path.is_dir, pair.iterdir()):
        shutil.copytree(folder, tmp_path / folder.name)
    path = tmp_path / "model.py"
    before, after = (pair / "before.py").read_text(), (pair / "after.py").read_text()
    path.write_text(before)
    profile, unsafe = SettingsResolver(environ={})(str(path)).profile, pair.name in UNCOMPARED
    file = await fixed(engine, str(path), before, profile, unsafe=unsafe)
    assert file.after == after
    assert {proved.same_results for proved in file.fixes} == {not unsafe}
    path.write_text(after)
    report = await engine.check(str(path))
    assert [finding.message for finding in report.findings if finding.rule in FIXABLE] == []
    assert {target.checked.value for target in report.targets} == {"yes"}


@pytest.mark.parametrize("pair", REWRITTEN, ids=lambda pair: pair.name)
async def test_rewrites_that_compute_the_same_are_proved(engine: Engine, pair: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "model.py"
    before, after = (pair / "before.py").read_text(), (pair / "after.py").read_text()
    path.write_text(before)
    engine.open(path.as_uri(), str(path), 1, before)
    update = await engine.settled(path.as_uri())
    assert update is not None
    fixes: list[Fix] = []
    for rewrite in rewrites(before, EVERYWHERE):
        arguments = (path.as_uri(), before, update.report, [], rewrite.guesses, rewrite.owner)
        proved = await first_proved(engine, *arguments)
        if proved is not None and proved.same_results:
            fixes.append(proved.fix)
    assert applied(before, together(fixes).edits) == after
    engine.close(path.as_uri())
