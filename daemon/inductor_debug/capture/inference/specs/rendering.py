"""Writes a guess down: as the signature that users read, and as the directive that they may edit."""

from __future__ import annotations

from collections.abc import Mapping

from inductor_debug.capture.inference.specs.specs import (
    DTYPE_LETTERS,
    Guess,
    MappingSpec,
    ObjectSpec,
    SequenceSpec,
    Spec,
    SpecArgument,
    TensorSpec,
)


def signature_of(guess: Guess, symbols: Mapping[str, str]) -> str:
    """`x f32[batch, 64], lengths i64[batch]`: free dimensions by the names that `symbols` gives them."""
    sizes = guess.size_of()
    return ", ".join(f"{item.name} {_described(item.spec, sizes, symbols)}" for item in guess.arguments)


def tensors_of(guess: Guess) -> list[str]:
    """`f32[2, 64]` for every tensor of the call, in order."""
    return [_described(spec, guess.size_of(), {}) for _, spec in guess.tensors()]


def inputs_of(guess: Guess) -> str:
    """A Python expression for the inputs: a tuple, or a dict where arguments must be passed by name."""
    sizes = guess.size_of()
    written = [(item, _written(item.spec, sizes)) for item in guess.arguments]
    if any(item.keyword for item in guess.arguments):
        return "{" + ", ".join(f"{item.name!r}: {text}" for item, text in written) + "}"
    return _tuple([text for _, text in written])


def arguments_of(arguments: tuple[SpecArgument, ...]) -> str:
    """A Python expression for constructor arguments; empty where there are none."""
    if not arguments:
        return ""
    written = [(item, _written(item.spec, {})) for item in arguments]
    if any(item.keyword for item in arguments):
        return "{" + ", ".join(f"{item.name!r}: {text}" for item, text in written) + "}"
    return _tuple([text for _, text in written])


def directive_of(guess: Guess, init: str, *, prepared: bool = False) -> str:
    """The comment that makes the inference explicit; empty where the model was `prepared`, which no comment can say."""
    if prepared:
        return ""
    rest = f", init={init}" if init else ""
    return f"# inductor-debug: inputs={inputs_of(guess)}{rest}"


def _described(spec: Spec, sizes: Mapping[str, int], symbols: Mapping[str, str]) -> str:
    if isinstance(spec, TensorSpec):
        dims = [str(dim) if isinstance(dim, int) else symbols.get(dim, str(sizes[dim])) for dim in spec.dims]
        return f"{DTYPE_LETTERS.get(spec.dtype, spec.dtype)}[{', '.join(dims)}]"
    if isinstance(spec, SequenceSpec):
        inner = ", ".join(_described(item, sizes, symbols) for item in spec.items)
        return f"[{inner}]" if spec.is_list else f"({inner})"
    if isinstance(spec, MappingSpec):
        return "{" + ", ".join(f"{key}: {_described(item, sizes, symbols)}" for key, item in spec.items) + "}"
    if isinstance(spec, ObjectSpec):
        inner = ", ".join(f"{key}: {_described(item, sizes, symbols)}" for key, item in spec.items)
        return f"{spec.text.rpartition('.')[2]}({inner})"
    return f"= {spec.text}"


def _written(spec: Spec, sizes: Mapping[str, int]) -> str:
    if isinstance(spec, TensorSpec):
        shape = ", ".join(map(str, spec.shape(sizes)))
        numbers = "torch.rand" if spec.filled else "torch.randn"
        if spec.dtype == "float32":
            return f"{numbers}({shape or '()'})"
        if spec.is_halved:
            *others, last = spec.shape(sizes)
            once = f"torch.arange({last}) % 2 == 0"
            return f"({once}).repeat({', '.join(map(str, others))}, 1)" if others else once
        if spec.dtype == "bool":
            return f"torch.ones(({shape},), dtype=torch.bool)" if shape else "torch.tensor(True)"
        if spec.dtype.startswith(("float", "bfloat", "complex")):
            return f"{numbers}({shape or '()'}, dtype=torch.{spec.dtype})"
        if isinstance(value := spec.value(sizes), tuple):
            return f"torch.tensor({value}).repeat({', '.join(map(str, spec.shape(sizes)[:-1]))}, 1)"
        if spec.filled:
            return f"torch.full(({shape}{',' if len(spec.dims) == 1 else ''}), {value})"
        return f"torch.zeros(({shape}{',' if len(spec.dims) == 1 else ''}), dtype=torch.{spec.dtype})"
    if isinstance(spec, SequenceSpec):
        items = [_written(item, sizes) for item in spec.items]
        return f"[{', '.join(items)}]" if spec.is_list else _tuple(items)
    if isinstance(spec, MappingSpec):
        return "{" + ", ".join(f"{key!r}: {_written(item, sizes)}" for key, item in spec.items) + "}"
    if isinstance(spec, ObjectSpec):
        return f"{spec.text}({', '.join(f'{key}={_written(item, sizes)}' for key, item in spec.items)})"
    return spec.text


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
