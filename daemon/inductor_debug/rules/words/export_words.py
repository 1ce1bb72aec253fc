"""Why `torch.export` stops at an expression, in one plain sentence, from the facts. Needs no torch."""

from __future__ import annotations

from inductor_debug_schema import ExportFault, ExportStop

from inductor_debug.rules.amounts import listed

FORMAT_NAMES = {"pt2": ".pt2", "onnx": "ONNX", "executorch": "ExecuTorch"}
"""What people call the formats of the `formats` document."""


def sentence_of(facts: ExportStop) -> str:
    """The finding's sentence."""
    it = f"`{facts.export_expression}`" if facts.export_expression else "this"
    match facts.export_fault:
        case ExportFault.VALUE:
            return (
                f"torch.export cannot decide {it}: that takes the value of a tensor, and one program has to hold for "
                "all values. `torch.cond` keeps both ways, `torch.where` computes both."
            )
        case ExportFault.SIZE:
            condition = f"`{facts.condition}`" if facts.condition else "what this needs to know of it"
            return (
                f"torch.export cannot go on at {it}: whether {condition} holds depends on the number that "
                f"`{facts.read_from}` reads from a tensor."
                + (
                    f" Where it always does, say so before: `torch._check({facts.condition})`."
                    if facts.condition
                    else ""
                )
            )
        case ExportFault.OPERATOR:
            return (
                f"torch.export does not know the shape of what `{facts.export_expression}` gives: it has no fake "
                "implementation (`torch.library.register_fake`)."
            )
        case ExportFault.STRICT:
            return f"torch.export with strict=True stops at {it}: {facts.said}. The default, strict=False, goes on."
        case ExportFault.FORMAT:
            formats = listed([FORMAT_NAMES.get(each, each) for each in facts.formats])
            verb = "does" if len(facts.formats) == 1 else "do"
            taken = f"torch.export takes {it}, but {formats} {verb} not"
            if not facts.operators:
                return f"{taken}: {facts.said}"
            return f"{taken} take what becomes of it, {listed([f'`{each}`' for each in facts.operators])}."
        case ExportFault.SIZES:
            asked = listed([f"`{each}`" for each in facts.sizes_asked])
            advice = "; ".join(facts.dims_suggested)
            return f"torch.export does not leave sizes open as {it} says: the code asks for {asked}." + (
                f" What it would take: `{advice}`." if advice else ""
            )
        case ExportFault.OTHER:
            return f"torch.export stops at {it}: {facts.said}"
