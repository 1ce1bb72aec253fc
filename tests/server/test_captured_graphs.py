"""What an order has captured stands in for a second capture only while nothing that it depends on has changed."""

from __future__ import annotations

import dataclasses

from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.server.state.captured_graphs import CapturedGraphs
from inductor_debug_schema import FileReport, FileStatus

URI, TEXT = "file:///net.py", "text"
ORDER, SETTINGS = Order(target="Net", keep_graphs=True), Settings("/")
PERFORMED = Performed(FileReport("/net.py", FileStatus.CLEAN), TEXT)


def captured(performed: Performed = PERFORMED) -> CapturedGraphs:
    graphs = CapturedGraphs()
    graphs.take(URI, ORDER, SETTINGS, performed)
    return graphs


def test_the_same_order_for_the_same_text_with_the_same_settings_is_answered() -> None:
    graphs = captured()
    assert graphs.of(URI, ORDER, SETTINGS, TEXT) is PERFORMED
    assert graphs.of(URI, ORDER, SETTINGS, "edited") is None
    assert graphs.of(URI, ORDER, dataclasses.replace(SETTINGS, accelerator="h100"), TEXT) is None
    assert graphs.of(URI, dataclasses.replace(ORDER, target="Head"), SETTINGS, TEXT) is None
    assert graphs.of("file:///other.py", ORDER, SETTINGS, TEXT) is None


def test_nothing_is_kept_of_what_broke_of_closed_documents_and_of_changed_files() -> None:
    assert captured(dataclasses.replace(PERFORMED, broken=True)).of(URI, ORDER, SETTINGS, TEXT) is None
    graphs = captured()
    graphs.forget("file:///other.py")
    assert graphs.of(URI, ORDER, SETTINGS, TEXT) is PERFORMED
    graphs.forget(URI)
    assert graphs.of(URI, ORDER, SETTINGS, TEXT) is None
    graphs = captured()
    graphs.doubt({"/imported.py"})
    assert graphs.of(URI, ORDER, SETTINGS, TEXT) is None
