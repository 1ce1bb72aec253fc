"""A file is analysed again when what it imports changes, and only then."""

from __future__ import annotations

import os
from pathlib import Path

from desk import DONE, SAVED, STALE, Desk, body
from inductor_debug.engine.results.cache import ResultCache, key_of
from inductor_debug.engine.results.merge import Results
from inductor_debug_schema import FileStatus

OLD = 1_600_000_000


def old(path: str) -> str:
    """Makes a file look as if it had not been touched for years."""
    os.utime(path, (OLD, OLD))
    return path


async def test_a_changed_dependency_is_analysed_with_the_new_text(desk: Desk) -> None:
    helper = old(desk.write("x = 1\n", "helper.py"))
    desk.pools.dependencies.append(helper)
    await desk.opened()
    desk.write("x = 22\n", "helper.py")
    desk.engine.files_changed([helper])
    last = await desk.settled()
    assert (last.state, last.cause) == (DONE, "helper.py changed")
    assert len(desk.ran) == 2


async def test_a_saved_dependency_is_enough_even_if_nobody_watches_files(desk: Desk) -> None:
    helper = old(desk.write("def f():\n    1\n", "helper.py"))
    desk.open("def f():\n    1\n", "helper.py")
    await desk.settled("helper.py")
    desk.pools.dependencies.append(helper)
    await desk.opened()
    desk.save("def f():\n    2\n", "helper.py")
    await desk.settled("helper.py")
    assert (await desk.settled()).cause == "helper.py changed"
    assert desk.ran.count(SAVED) == 2
    seen = len(desk.updates)
    desk.engine.files_changed([helper])  # the editor tells of the same save again
    await desk.settled()
    assert len(desk.updates) == seen


async def test_touching_a_dependency_without_changing_it_runs_nothing(desk: Desk) -> None:
    helper = old(desk.write("x = 1\n", "helper.py"))
    desk.pools.dependencies.append(helper)
    desk.engine.files_changed([helper])
    await desk.opened()
    os.utime(helper, (OLD + 5, OLD + 5))
    desk.engine.files_changed([helper])
    assert (await desk.settled()).state is DONE
    assert len(desk.ran) == 1


def test_a_result_is_not_kept_when_a_dependency_changed_while_it_was_made(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("x = 1\n")
    written = helper.stat().st_mtime_ns
    results = Results("/p/model.py", "import helper\n", dependencies=[str(helper)], status=FileStatus.CLEAN)
    cache = ResultCache()
    key = key_of("model.py", "", "", None)
    cache.put(key, results, started=written - 1)
    assert cache.get(key) is None
    cache.put(key, results, started=written + 1)
    assert cache.get(key) is results
    helper.unlink()
    assert cache.get(key) is None


def test_the_cache_is_bounded() -> None:
    cache = ResultCache(capacity=2)
    keys = {name: key_of(name, "", "", None) for name in "abc"}
    for name in "abac":
        if cache.get(keys[name]) is None:
            cache.put(keys[name], Results(name, "", status=FileStatus.CLEAN), started=0)
    assert [cache.get(key) is not None for key in keys.values()] == [True, False, True]


async def test_a_checkout_of_many_files_runs_once(desk: Desk) -> None:
    helpers = [old(desk.write("x = 1\n", f"helper{number}.py")) for number in range(50)]
    desk.pools.dependencies.extend(helpers)
    await desk.opened()
    for number, helper in enumerate(helpers):
        desk.write(f"x = {number + 10}\n", f"helper{number}.py")
        desk.engine.files_changed([helper])
    last = await desk.settled()
    assert last.cause == "50 files changed"
    assert len(desk.ran) == 2


async def test_an_unrelated_file_runs_nothing(desk: Desk) -> None:
    await desk.opened()
    desk.engine.files_changed([desk.write("x = 1\n", "other.py"), desk.write("hello", "notes.txt")])
    await desk.settled()
    assert len(desk.ran) == 1


async def test_a_missing_import_is_tried_again_when_a_file_appears(desk: Desk) -> None:
    desk.open(body("IMPORTFAIL"))
    assert (await desk.settled()).report.findings[0].rule == "import-error"
    desk.engine.files_changed([desk.write("x = 1\n", "helper.py")])
    await desk.settled()
    assert len(desk.ran) == 2


async def test_a_file_replaced_on_disk_counts_as_saved(desk: Desk) -> None:
    """Editors reload a clean document after `git checkout` with a change and without a save."""
    await desk.opened()
    replaced = SAVED + "VALUE = 3\n"
    desk.type(replaced)
    assert (await desk.settled()).state is STALE
    desk.write(replaced)
    desk.engine.files_changed([str(desk.path())])
    assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, replaced]


async def test_a_deleted_file_keeps_its_findings_and_the_daemon_alive(desk: Desk) -> None:
    await desk.opened()
    desk.path().unlink()
    desk.engine.files_changed([str(desk.path())])
    last = await desk.settled()
    assert [finding.rule for finding in last.report.findings] == ["dtype"]
    desk.type(body("x"))
    assert (await desk.settled()).state is STALE
