"""What a file states of shapes, and what only looks as if it did."""

from __future__ import annotations

import pytest
from inductor_debug.source.shape_notes import FunctionNotes, ShapeNote, function_notes
from inductor_debug_schema import Position, Range, StatedBy


def of(text: str) -> FunctionNotes:
    (notes,) = function_notes(text)
    return notes


def stated(line: str, before: str = "B, T, C = x.shape") -> ShapeNote | None:
    notes = of(f"def forward(self, x):\n    {before}\n    {line}\n    return None\n")
    return notes.statements[0].note if notes.statements else None


@pytest.mark.parametrize(
    ("line", "dims"),
    [
        ("y = f(x)  # (B, T, C)", ("B", "T", "C")),
        ("y = f(x)  # [B, T, C]", ("B", "T", "C")),
        ("y = f(x)  # B x T x C", ("B", "T", "C")),
        ("y = f(x)  # B x S x E -> B x S x 2E", ("B", "S", "2*E")),
        ("y = f(x)  # n x heads*N x L => n x B x heads * N", ("n", "B", "heads*N")),
        ("y = f(x)  # y: (B, T, C)", ("B", "T", "C")),
        ("y = f(x)  # shape: (batch, seq_len, d_model)", ("batch", "seq_len", "d_model")),
        ("y = f(x)  # of shape (b, t, n_embd)", ("b", "t", "n_embd")),
        ("y = f(x)  # (B, nh, T, hs) attention scores", ("B", "nh", "T", "hs")),
        ("y = f(x)  # (B, nh, T, hs) x (B, nh, hs, T) -> (B, nh, T, T)", ("B", "nh", "T", "T")),
        ("y = f(x)  # (B, T, C) --> (B, C, T)", ("B", "C", "T")),
        ("y = f(x)  # (B*T, C // nh)", ("B*T", "C//nh")),
        ("y: object = f(x)  # (B, T, C)", ("B", "T", "C")),
        ("y += f(x)  # (B, T, C)", ("B", "T", "C")),
        ("return f(x)  # (B, T, C)", ("B", "T", "C")),
        ("# (B, T, C) -> (B, C, T)\n    y = f(x)", ("B", "C", "T")),
        ("y = f(\n        x,\n    )  # (B, T, C)", ("B", "T", "C")),
    ],
)
def test_a_comment_that_states_a_shape_is_read(line: str, dims: tuple[str, ...]) -> None:
    found = stated(line)
    assert found is not None
    assert (found.stated_by, found.dims) == (StatedBy.COMMENT, dims)


@pytest.mark.parametrize(
    "line",
    [
        "y = f(x)  # (query, key, value)",
        "y = f(x)  # (q, k, v)",
        "y = f(x)  # (0, 1)",
        "y = f(x)  # (optional)",
        "y = f(x)  # (B)",
        "y = f(x)  # B x 1_a",
        "y = f(x)  # (output, weights)",
        "y = f(x)  # (B, T, C) or (B, C, T)",
        "y = f(x)  # (B, T, C) if it is batched",
        "y = f(x)  # (B, T, C), (B, T)",
        "y = f(x)  # z: (B, T, C)",
        "y = f(x)  # was (B, T, C) before",
        "y = f(x)  # see (Vaswani, 2017)",
        "y = f(x)  # (which_is_typically_of_batch_size, T)",
        "y = f(x)  # inductor-debug: ignore[dtype, layout]",
        "y, z = f(x)  # (B, T, C)",
        "self.y = f(x)  # (B, T, C)",
        "y = f(x); z = g(x)  # (B, T, C)",
        "# (B, T, C)\n    y = f(x)",
        "f(x)  # (B, T, C)",
        "if x: y = f(x)  # (B, T, C)\n    else: y = g(x)  # text",
    ],
)
def test_what_leaves_a_doubt_is_not(line: str) -> None:
    found = stated(line)
    assert found is None or line.startswith("if "), "a statement behind a colon is the only one on its line"


def test_a_note_has_its_place_in_utf16_and_its_name() -> None:
    found = stated('y = f(x, "🙂")  # (B, T)')
    assert found is not None
    assert (found.named, found.written) == ("y", "(B, T)")
    assert found.range == Range(Position(2, 22), Position(2, 28))


def test_sizes_are_names_that_are_bound_once_to_a_shape() -> None:
    text = (
        "def forward(self, x, n):\n    B, T, C = x.size()\n    h = x.shape[-1]\n    w, d = x.shape[1], 3\n"
        "    k = x.size(0)\n    k = k + 1\n    e = x.size(0) * 2\n    n = x.size(1)\n"
    )
    assert of(text).sizes == {"B", "T", "C", "h", "w"}


def test_annotations_are_jaxtypings_alone() -> None:
    text = (
        "from jaxtyping import Float as F, Int\nimport jaxtyping as jt\nfrom torch import Tensor\n"
        'def forward(self, x: F[Tensor, "b t c"], ids: Int[torch.Tensor, "b t"] | None, other: G[Tensor, "b"],\n'
        '            each: jt.Bool[Tensor, "*any 3"] = None, text: Float["b"] = 1) -> "F[Tensor, \'b\']":\n    pass\n'
    )
    notes = of(text)
    assert [(note.named, note.dtype, note.dims) for note in notes.arguments] == [
        ("x", "Float", ("b", "t", "c")),
        ("ids", "Int", ("b", "t")),
        ("each", "Bool", ("*any", "3")),
    ]
    assert notes.returned is None
    assert notes.arguments[0].range == Range(Position(3, 31), Position(3, 38))


def test_an_argument_on_a_line_of_its_own_may_have_a_comment() -> None:
    text = "def forward(\n    self,\n    x,  # (B, T, C)\n    y, z,  # (B, T)\n):\n    pass\n"
    assert [(note.named, note.dims) for note in of(text).arguments] == [("x", ("B", "T", "C"))]


def test_a_file_that_does_not_parse_states_nothing() -> None:
    assert function_notes("def f(:\n    y = x  # (B, T)\n") == []
