"""The page of `shape-annotation`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class ShapeAnnotationRule(RunRule):
    """The source states a shape that a value does not have."""

    id = "shape-annotation"
    summary = "An annotation, a comment or a docstring states a shape that the value does not have."
    what = """
        Where a file states shapes, its targets run once more and the values are looked at: arguments and results with
        jaxtyping's annotations (`Float[Tensor, "b t c"]`), what a comment at the end of its line states (`x =
        self.norm(x)  # (B, T, C)`, after an arrow if there is one), and arguments of which a docstring states one
        shape. The finding stands at what is stated and says what is so.

        Of an annotation the number of sizes, numbers, the class of the dtype, and names that stand for two sizes in one
        call are checked. Comments and docstrings are for people, so only what cannot be read in another way is told: a
        different number of sizes, unless only the batch is left out, and sizes that the function itself takes from a
        shape (`B, T, C = x.shape`) and that stand in another order. What a comment says has to be wrong in every run,
        and where nobody gave the inputs, other statements of the function have to hold. Libraries are not looked at."""
    why = """
        Whoever changes the code reads the comment first. A shape that was true before the last change costs more time
        than none."""
    example = """
        ```python
        B, T, C = x.shape
        k = self.key(x).transpose(1, 2)     # (B, T, C)
        ```

        `The comment says that k is (B, T, C), where T is 16 and C is 64: it is [2, 64, 16].`"""
    fix = """
        Write what is so, or put right what computes it. Where each size is that of one name of the function's, a quick
        fix writes it into the comment. Where it is meant otherwise, say so:
        `# inductor-debug: ignore[shape-annotation]`."""
