"""Before Python 3.11 an expression is found by counting; checked here against what 3.11 and later say themselves."""

import dis
import sys
import textwrap
from types import CodeType

import pytest
from inductor_debug.capture.expressions.instruction_expressions import positions_at, qualified_name

SOURCE = textwrap.dedent(
    """\
    def forward(self, x, table):
        y = self.first(x).double().float() + helper(x) * helper(x)
        y += table["a"][0] - -x
        self.calls += table["n"]
        self.rows[helper(0)] *= x
        table["b"] = torch.cat([x, y], dim=helper(1))
        rows = [helper(r) for r in helper(y) if check(r)]
        keep = map(lambda v: helper(v) + 1, rows)
        if x.shape[0] > helper(3):
            return torch.relu(
                self.second(y),
            )
        z = (
            x
            .double()
            .sum(helper(0))
            .data
        )
        while x.sum() < helper(z):
            x = x + 1
        if x is None:
            raise ValueError(f"{x}")
        import os.path as path
        if 0 < x.size(0) < 3:
            del self.rows[1], self.calls
        return {helper(k): helper(v) for k, v in {helper(x): y, z: helper(y)}.items()}
    """
)
KINDS = {
    *("CALL", "BINARY_OP", "BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "UNARY_NEGATIVE", "COMPARE_OP", "IS_OP"),
    *("LOAD_FAST", "LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "RAISE_VARARGS"),
    *("IMPORT_NAME", "IMPORT_FROM", "POP_JUMP_FORWARD_IF_FALSE"),
}


def _codes(code: CodeType) -> list[CodeType]:
    return [code, *(inner for const in code.co_consts if isinstance(const, CodeType) for inner in _codes(const))]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="compares with the bytecode of Python 3.11")
def test_counting_finds_the_expressions_that_python_itself_knows() -> None:
    compared = 0
    for code in _codes(compile(SOURCE, "model.py", "exec")):
        for instruction in dis.get_instructions(code):
            known = instruction.positions
            if instruction.opname not in KINDS or known is None or instruction.argval == ".0":
                continue
            found = positions_at(code, instruction.offset, SOURCE)
            assert found is not None, (instruction.opname, known)
            assert tuple(found) == tuple(known)
            compared += 1
    assert compared > 130


@pytest.mark.skipif(sys.version_info < (3, 11), reason="compares with what Python 3.11 and later say")
def test_full_names_of_functions_are_read_off_the_text() -> None:
    text = textwrap.dedent(
        """\
        class Net:
            @property
            def first(self):
                def inner(x):
                    return lambda: x
                return inner
            class Part:
                def forward(self): ...
        def helper(): ...
        """
    )
    codes = [code for code in _codes(compile(text, "model.py", "exec")) if code.co_name != "<module>"]

    assert [qualified_name(code, text) for code in codes] == [code.co_qualname for code in codes]
    assert {qualified_name(code, "") for code in codes} == {code.co_name for code in codes}


RESUMED = """\
def forward(x):
    y = x.sin(); print(1); z = y.cos() + y.tan()
    return z.relu()
"""


def test_what_dynamo_resumes_has_the_rest_of_its_line() -> None:
    """As Dynamo makes it: a function that begins on that line."""
    made = "\ndef torch_dynamo_resume_in_forward_at_2(y): z = y.cos() + y.tan()"
    [code] = _codes(compile(made, "model.py", "exec"))[1:]
    found = [positions_at(code, item.offset, RESUMED) for item in dis.get_instructions(code)]
    line = RESUMED.splitlines()[1]

    assert {line[place.col_offset : place.end_col_offset] for place in found if place} == {
        *("y", "y.cos", "y.cos()", "y.tan", "y.tan()", "y.cos() + y.tan()"),
    }


def test_rewritten_bytecode_gives_no_answer_instead_of_a_wrong_one() -> None:
    code = compile("a = f(1) + f(2)\n", "model.py", "exec")
    offset = next(item.offset for item in dis.get_instructions(code) if item.opname.startswith("CALL"))

    assert positions_at(code, offset, "a = f(1)\n") is None
    assert positions_at(code, offset, "not python (\n") is None
    assert positions_at(code, 10_000, "a = f(1) + f(2)\n") is None
