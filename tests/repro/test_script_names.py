"""A script is called the same by its own header and by the editor, and can be run under that name without quotes."""

from __future__ import annotations

import pytest
from inductor_debug.repro.program.value_names import file_name


# The editor's half: `vscode-extension/test/unit/repro.test.ts`.
@pytest.mark.parametrize(
    ("source", "subject", "name"),
    [
        ("/work/model.py", "graph-break", "repro_model_graph_break.py"),
        ("/work/my model (2).py", "dtype", "repro_my_model_2_dtype.py"),
        ("/work/it's ünï.py", "../mine.toml", "repro_it_s_n_mine_toml.py"),
        ("", "dtype", "repro_dtype.py"),
    ],
)
def test_a_script_is_named_after_its_file_and_subject(source: str, subject: str, name: str) -> None:
    assert file_name(source, subject) == name
