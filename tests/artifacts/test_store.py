"""Artifacts are kept whole, found again, and given up before anything else is."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from inductor_debug.artifacts.entries import ArtifactEntry, Selection
from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug_schema import ArtifactKind, ArtifactMade, Stage


def made(
    content: bytes = b"content",
    *,
    kind: ArtifactKind = ArtifactKind.FX_GRAPHS,
    title: str = "graphs",
    suffix: str = ".graph",
    target: str = "Model",
    stage: Stage | None = Stage.MOCK,
) -> ArtifactMade:
    return ArtifactMade(kind, title, suffix, "application/x-graph", content, target, stage)


def put(store: ArtifactStore, artifact: ArtifactMade, source: str = "/project/model.py", *, at: float = 0) -> Path:
    reference = store.put(artifact, source=source)
    assert reference is not None, store.trouble
    if at:
        os.utime(reference.path, (at, at))
    return Path(reference.path)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def names(entries: list[ArtifactEntry]) -> list[str]:
    return [Path(entry.path).name for entry in entries]


def test_what_is_kept_is_found_again_with_everything_that_is_known_of_it(store: ArtifactStore) -> None:
    path = put(store, made(b"graph"))
    assert path.read_bytes() == b"graph"
    assert path.parent == store.folder / "fx_graphs"
    assert path.name.startswith("model-Model-mock-graphs-")
    (entry,) = ArtifactStore(store.folder).entries()
    assert (entry.path, entry.bytes, entry.media_type) == (str(path), 5, "application/x-graph")
    assert (entry.target, entry.stage, entry.source) == ("Model", Stage.MOCK, "/project/model.py")
    assert entry.title == "graphs"
    assert entry.reference.kind is ArtifactKind.FX_GRAPHS


def test_the_same_thing_kept_twice_is_one_file_and_counts_as_new(store: ArtifactStore) -> None:
    first = put(store, made(), at=1000)
    assert put(store, made()) == first
    (entry,) = store.entries()
    assert entry.created > 1000


def test_things_that_differ_never_share_a_name(store: ArtifactStore) -> None:
    paths = {
        put(store, made(b"a")),
        put(store, made(b"b")),
        put(store, made(b"a"), "/other/model.py"),
        put(store, made(b"a", target="Other")),
        put(store, made(b"a", target="a/b")),
        put(store, made(b"a", target="a_b")),
        put(store, made(b"a", suffix=".txt")),
    }
    assert len(paths) == len(store.entries()) == 7


@pytest.mark.parametrize("title", ["../../etc/passwd", "a\0b", "…" * 300, "", "CON", "a\nb", "\udc80"])
def test_a_name_can_hold_whatever_a_model_is_called(store: ArtifactStore, title: str) -> None:
    path = put(store, made(title=title, target=title, suffix="/../x"), "/project/" + "m" * 300 + ".py")
    assert path.parent.parent == store.folder
    assert len(path.name) < 200
    assert [entry.path for entry in store.entries()] == [str(path)]


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(), [3, 2, 1, 0]),
        (Selection(kinds=(ArtifactKind.AOT_GRAPHS,)), [1]),
        (Selection(target="Other"), [2]),
        (Selection(source="/project/model.py"), [2, 1, 0]),
        (Selection(source="/project"), [2, 1, 0]),
        (Selection(source="/proj"), []),
        (Selection(stage=Stage.AOT), [1]),
        (Selection(before=2500), [1, 0]),
        (Selection(kinds=(ArtifactKind.AOT_GRAPHS,), before=1500), []),
    ],
)
def test_entries_are_chosen_by_all_that_is_said_newest_first(
    store: ArtifactStore, selection: Selection, chosen: list[int]
) -> None:
    paths = [
        put(store, made(b"0"), at=1000),
        put(store, made(b"1", kind=ArtifactKind.AOT_GRAPHS, stage=Stage.AOT), at=2000),
        put(store, made(b"2", target="Other"), at=3000),
        put(store, made(b"3"), "/elsewhere/model.py", at=4000),
    ]
    assert [entry.path for entry in store.entries(selection)] == [str(paths[number]) for number in chosen]


def test_the_oldest_go_when_there_is_no_room(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, limit_bytes=1000)
    paths = [put(store, made(bytes([number]) * 100), at=1000 + number) for number in range(10)]
    newest = put(store, made(b"n" * 300))
    left = {entry.path for entry in store.entries()}
    assert str(newest) in left
    assert left == {str(newest), *(str(path) for path in paths[5:])}, "an eighth is made free, oldest first"
    assert sum(entry.bytes for entry in store.entries()) <= 1000


def test_what_is_larger_than_all_may_be_is_not_kept_and_costs_nothing_else(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, limit_bytes=1000)
    kept = put(store, made(b"small"))
    assert store.put(made(b"x" * 2000)) is None
    assert "2000 bytes" in store.trouble
    assert [entry.path for entry in store.entries()] == [str(kept)]


def test_clean_removes_what_is_chosen_and_nothing_that_is_not_ours(store: ArtifactStore) -> None:
    old, new = put(store, made(b"old"), at=1000), put(store, made(b"new"))
    foreign = old.parent / "notes.txt"
    foreign.write_text("mine", encoding="utf-8")
    planned = store.clean(Selection(before=2000), dry_run=True)
    assert (names(planned.entries), old.exists()) == ([old.name], True)
    cleaned = store.clean(Selection(before=2000))
    assert (names(cleaned.entries), cleaned.bytes, cleaned.failures) == ([old.name], 3, [])
    assert (old.exists(), new.exists(), foreign.exists()) == (False, True, True)
    store.clean()
    assert (store.entries(), foreign.read_text(encoding="utf-8")) == ([], "mine")


@pytest.mark.parametrize("index", [b"", b"\xff\x00garbage\n{", b'{"kind": 3}\n[]\nnull\n', None])
def test_a_damaged_index_costs_titles_and_no_artifacts(store: ArtifactStore, index: bytes | None) -> None:
    path = put(store, made())
    if index is None:
        (store.folder / "index.jsonl").unlink()
    else:
        (store.folder / "index.jsonl").write_bytes(index)
    (entry,) = store.entries()
    assert (entry.path, entry.title) == (str(path), "")
    again = put(store, made(b"more"))
    assert next(entry for entry in store.entries() if entry.path == str(again)).title == "graphs"


def test_a_line_that_was_cut_off_spoils_no_other(store: ArtifactStore) -> None:
    put(store, made(b"1"))
    with open(store.folder / "index.jsonl", "ab") as index:
        index.write(b'\n{"kind": "fx_gra')
    put(store, made(b"2"))
    assert [entry.title for entry in store.entries()] == ["graphs", "graphs"]


def test_a_file_that_was_cut_off_is_written_anew(store: ArtifactStore) -> None:
    path = put(store, made(b"whole"))
    path.write_bytes(b"wh")
    assert put(store, made(b"whole")).read_bytes() == b"whole"
    path.write_bytes(b"\0\0\0\0\0")
    assert put(store, made(b"whole")).read_bytes() == b"whole"


def test_a_file_that_another_process_removes_meanwhile_is_written_anew(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(store, made(b"whole"))

    def removed(name: Path) -> None:
        path.unlink()
        raise FileNotFoundError(2, "No such file or directory", str(name))

    with monkeypatch.context() as patch:
        patch.setattr(os, "utime", removed)
        assert put(store, made(b"whole")).read_bytes() == b"whole"
    assert [entry.title for entry in store.entries()] == ["graphs"]


def test_keeping_the_same_again_and_again_adds_nothing_to_the_index(store: ArtifactStore) -> None:
    for _ in range(5):
        put(store, made(b"kept"))
    assert (store.folder / "index.jsonl").read_bytes().count(b"\n") == 1


def test_the_index_does_not_grow_for_ever(store: ArtifactStore) -> None:
    put(store, made(b"kept"))
    line = (store.folder / "index.jsonl").read_bytes()
    (store.folder / "index.jsonl").write_bytes(line * 4500)
    gone = put(store, made(b"gone"), at=1000)
    store.clean(Selection(before=2000))
    assert not gone.exists()
    assert (store.folder / "index.jsonl").read_bytes().count(b"\n") == 1
    assert [entry.title for entry in store.entries()] == ["graphs"]
    assert list(store.folder.glob("index.jsonl.*")) == []


def test_an_index_that_somebody_died_over_is_still_read(store: ArtifactStore) -> None:
    put(store, made())
    (store.folder / "index.jsonl").rename(store.folder / "index.jsonl.123.0")
    assert [entry.title for entry in store.entries()] == ["graphs"]


@pytest.mark.parametrize(
    ("mark", "word"),
    [
        ('{"format": "inductor-debug artifacts", "schema": 99}', "another version"),
        ('{"format": "somebody else"}', "something else"),
        ("not json", "damaged"),
        ("[]", "something else"),
    ],
)
def test_a_folder_that_is_not_ours_is_left_alone(store: ArtifactStore, mark: str, word: str) -> None:
    store.folder.mkdir()
    (store.folder / "store.json").write_text(mark, encoding="utf-8")
    assert store.put(made()) is None
    assert word in store.trouble
    assert [path.name for path in store.folder.iterdir()] == ["store.json"]
    (store.folder / "reports").mkdir()
    alike = store.folder / "reports" / "model-0123456789abcdef0123.html"
    alike.write_text("somebody's", encoding="utf-8")
    assert word in store.foreign()
    assert store.entries() == store.clean().entries == []
    assert alike.exists()


def test_the_folder_says_what_it_is_and_keeps_out_of_version_control(store: ArtifactStore) -> None:
    put(store, made())
    assert json.loads((store.folder / "store.json").read_bytes()) == {"format": "inductor-debug artifacts", "schema": 1}
    assert (store.folder / ".gitignore").read_text(encoding="utf-8").splitlines()[-1] == "*"


def test_a_folder_with_other_things_in_it_stays_under_version_control(store: ArtifactStore) -> None:
    store.folder.mkdir()
    (store.folder / "model.py").write_text("", encoding="utf-8")
    put(store, made())
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "fx_graphs",
        "index.jsonl",
        "model.py",
        "store.json",
    ]


def test_a_place_that_cannot_be_written_costs_the_artifact_and_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = ArtifactStore(tmp_path / "file" / "artifacts")
    assert store.put(made()) is None
    assert str(store.folder) in store.trouble
    assert store.entries() == []
    assert store.clean().entries == []


def test_a_full_disk_leaves_no_half_of_a_file(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, made(b"kept"))

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert store.put(made(b"too much")) is None
    assert "No space left on device" in store.trouble
    assert len(list((store.folder / "fx_graphs").iterdir())) == 1
    put(store, made(b"again"))
    assert store.trouble == ""


def test_drafts_of_processes_that_died_are_swept(store: ArtifactStore) -> None:
    path = put(store, made())
    draft = path.with_name(f".{path.name}.{2**22 + 1}.0.draft")  # more than any process has on Linux
    draft.write_bytes(b"half")
    ArtifactStore(store.folder).put(made(b"other"))
    assert draft.exists(), "it may still be written"
    os.utime(draft, (1000, 1000))
    ArtifactStore(store.folder).put(made(b"another"))
    assert not draft.exists()


def test_a_clock_that_was_set_costs_no_draft_that_is_being_written(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(store, made())
    mine = path.with_name(f".{path.name}.{os.getpid()}.0.draft")
    mine.write_bytes(b"half")
    tomorrow = time.time() + 86_400
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    ArtifactStore(store.folder).put(made(b"other"))
    assert mine.exists()


def _fill(folder: str, process: int) -> list[str]:
    store = ArtifactStore(Path(folder))
    kept = []
    for number in range(30):
        content = f"{number % 10 if number % 2 else process}-{number}".encode()
        reference = store.put(made(content, target=f"T{process}"), source="/project/model.py")
        assert reference is not None
        kept.append(reference.path)
    return kept


def test_many_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        kept = [path for paths in pool.map(_fill, [str(tmp_path)] * 3, range(3)) for path in paths]
    entries = ArtifactStore(tmp_path).entries()
    assert {entry.path for entry in entries} == set(kept)
    assert all(entry.title == "graphs" and Path(entry.path).stat().st_size == entry.bytes for entry in entries)
    assert len((tmp_path / "index.jsonl").read_bytes().split(b"\n")) == 91
