"""A kernel is compiled once, as long as its text, its GPU and its interpreter are the same."""

from __future__ import annotations

import dataclasses

from inductor_debug.engine.settings.settings import Settings
from inductor_debug.server.state.known_kernels import KnownKernels
from inductor_debug_schema import CompiledText, GraphDocument, Kernel, KernelBuild, Stage

SETTINGS = Settings("/", accelerator="h100")


def document(**sources: str) -> GraphDocument:
    kernels = [Kernel(name, "triton", source, "0.forward") for name, source in sources.items()]
    return GraphDocument("Net", Stage.INDUCTOR, "/net.py", "", "h100", "", [], kernels)


def build(name: str, registers: int, text: str = "") -> KernelBuild:
    return KernelBuild("sm_90", name, "0.forward", registers=registers, texts=[CompiledText("PTX", text)])


def test_an_edit_leaves_what_was_compiled_of_other_kernels() -> None:
    known = KnownKernels()
    known.take(SETTINGS, [document(a="softmax", b="gelu")], [build("a", 23), build("b", 16)])
    edited = document(a="softmax of more", c="gelu")
    [same] = known.of(SETTINGS, [edited])
    assert (same.kernel, same.graph, same.registers) == ("c", "0.forward", 16)
    assert known.of(dataclasses.replace(SETTINGS, accelerator="rtx-4090"), [edited]) == []
    assert known.of(dataclasses.replace(SETTINGS, interpreter="/other/python"), [edited]) == []


def test_what_could_not_be_compiled_is_tried_again() -> None:
    known = KnownKernels()
    known.take(SETTINGS, [document(a="softmax")], [dataclasses.replace(build("a", 1), problem="Triton is missing.")])
    assert known.of(SETTINGS, [document(a="softmax")]) == []


def test_no_more_is_kept_than_there_is_room_for() -> None:
    known = KnownKernels(most_characters=25)
    for number in range(3):
        source = f"kernel {number}"
        known.take(SETTINGS, [document(k=source)], [build("k", number, "ten chars.")])
    kept = known.of(SETTINGS, [document(k=f"kernel {number}") for number in range(3)])
    assert [one.registers for one in kept] == [1, 2]
