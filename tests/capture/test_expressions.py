"""Before Python 3.11 an expression is found by counting; checked here against what 3.11 and later say themselves."""

import dis
import sys
import textwrap
from types import CodeType

import pytest
from inductor_debug.capture.expressions import positions_at

SOURCE = textwrap.dedent(
    """\
    def forward(self, x, table):
        y = self.first(x).double().float() + helper(x) * helper(x)
        y += table["a"][0] - -x
        table["b"] = torch.cat([x, y], dim=helper(1))
        rows = [helper(r) for r in helper(y) if check(r)]
        keep = map(lambda v: helper(v) + 1, rows)
        if x.shape[0] > helper(3):
            return torch.relu(
                self.second(y),
            )
        return {k: helper(v) for k, v in table.items()}
    """
)
KINDS = ("CALL", "BINARY_OP", "BINARY_SUBSCR", "STORE_SUBSCR", "UNARY_NEGATIVE", "COMPARE_OP")


def _codes(code: CodeType) -> list[CodeType]:
    return [code, *(inner for const in code.co_consts if isinstance(const, CodeType) for inner in _codes(const))]


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="compares with the bytecode of Python 3.11")
def test_counting_finds_the_expressions_that_python_itself_knows() -> None:
    compared = 0
    for code in _codes(compile(SOURCE, "model.py", "exec")):
        for instruction in dis.get_instructions(code):
            known = instruction.positions
            if instruction.opname not in KINDS or known is None:
                continue
            found = positions_at(code, instruction.offset, SOURCE)
            assert found is not None, (instruction.opname, known)
            assert tuple(found) == tuple(known)
            compared += 1
    assert compared > 20


def test_rewritten_bytecode_gives_no_answer_instead_of_a_wrong_one() -> None:
    code = compile("a = f(1) + f(2)\n", "model.py", "exec")
    offset = next(item.offset for item in dis.get_instructions(code) if item.opname.startswith("CALL"))

    assert positions_at(code, offset, "a = f(1)\n") is None
    assert positions_at(code, offset, "not python (\n") is None
    assert positions_at(code, 10_000, "a = f(1) + f(2)\n") is None
