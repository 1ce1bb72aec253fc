"""What torch's own modules accept, read off their attributes: `nn.Linear(64, 10)` takes `(..., 64)`.

Only public attributes are read. A module that is not known here accepts whatever a trial shows.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn

from inductor_debug.capture.inference.specs.specs import Dimension, TensorSpec
from inductor_debug.capture.runtime import foreign

_PASS = (
    nn.Identity,
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.ReLU,
    nn.ReLU6,
    nn.LeakyReLU,
    nn.PReLU,
    nn.GELU,
    nn.SiLU,
    nn.Mish,
    nn.ELU,
    nn.SELU,
    nn.CELU,
    nn.Sigmoid,
    nn.Tanh,
    nn.Softplus,
    nn.Softsign,
    nn.Hardtanh,
    nn.Hardswish,
    nn.Hardsigmoid,
    nn.Softmax,
    nn.LogSoftmax,
)


def is_passing(module: nn.Module) -> bool:
    """Whether `module` takes any shape and keeps it, so that it says nothing."""
    return isinstance(module, _PASS)


def accepted(module: nn.Module, position: int = 0) -> list[TensorSpec]:
    """Tensors that `module` takes as its argument number `position`, likeliest first; empty where it is not known."""
    for kinds, reader in _READERS:
        if isinstance(module, kinds):
            # Some attributes hold whatever their constructor was given: `BatchNorm1d([64])` counts as many features.
            return [spec for spec in reader(module, position) if all(isinstance(dim, int | str) for dim in spec.dims)]
    if isinstance(module, nn.Sequential):
        return _sequential(module) if position == 0 else []
    wrapped = _wrapped(module)
    return accepted(wrapped, position) if wrapped is not None else []


def _wrapped(module: nn.Module) -> nn.Module | None:
    """The only module in one that names no arguments of its own: it hands on what it is given."""
    parts = [part for part in foreign.children_of(module) if part is not module]
    try:
        kinds = {item.kind for item in inspect.signature(module.forward).parameters.values()}
    except (TypeError, ValueError):
        return None
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return parts[0] if len(parts) == 1 and kinds and kinds <= variadic else None


def _floats(*shapes: tuple[Dimension, ...]) -> list[TensorSpec]:
    return [TensorSpec(shape) for shape in shapes]


def _linear(module: Any, position: int) -> list[TensorSpec]:
    size = int(module.in_features)
    if size == 0:
        return _floats(("B", "D"), ("B", "T", "D"))
    return _floats(("B", size), ("B", "T", size), ("B", "H", "W", size))


def _bilinear(module: Any, position: int) -> list[TensorSpec]:
    size = module.in2_features if position else module.in1_features
    return _floats(("B", size), ("B", "T", size))


def _spatial(rank: int) -> tuple[Dimension, ...]:
    return {1: ("L",), 2: ("H", "W"), 3: ("F", "H", "W")}[rank]


def _convolution(rank: int) -> Callable[[Any, int], list[TensorSpec]]:
    def read(module: Any, position: int) -> list[TensorSpec]:
        return _floats(("B", module.in_channels or "C", *_spatial(rank)))

    return read


def _of_rank(rank: int) -> Callable[[Any, int], list[TensorSpec]]:
    def read(module: Any, position: int) -> list[TensorSpec]:
        return _floats(("B", "C", *_spatial(rank)))

    return read


def _norm(rank: int) -> Callable[[Any, int], list[TensorSpec]]:
    def read(module: Any, position: int) -> list[TensorSpec]:
        size = module.num_features or "C"
        if rank == 1:
            return _floats(("B", size), ("B", size, "L"))
        return _floats(("B", size, *_spatial(rank)))

    return read


def _group_norm(module: Any, position: int) -> list[TensorSpec]:
    size = module.num_channels
    return _floats(("B", size, "H", "W"), ("B", size, "L"), ("B", size), ("B", size, "F", "H", "W"))


def _layer_norm(module: Any, position: int) -> list[TensorSpec]:
    shape = tuple(int(size) for size in module.normalized_shape)
    return _floats(("B", "T", *shape), ("B", *shape), ("B", "H", "W", *shape))


def _embedding(module: Any, position: int) -> list[TensorSpec]:
    return [TensorSpec(dims, "int64") for dims in (("B", "T"), ("B",), ("T",))]


def _embedding_bag(module: Any, position: int) -> list[TensorSpec]:
    return [TensorSpec(("B",) if position else ("B", "T"), "int64")]


def _recurrent(module: Any, position: int) -> list[TensorSpec]:
    if position == 0:
        first: tuple[Dimension, Dimension] = ("B", "T") if module.batch_first else ("T", "B")
        return _floats((*first, module.input_size), ("T", module.input_size))
    layers = module.num_layers * (2 if module.bidirectional else 1)
    return _floats((layers, "B", getattr(module, "proj_size", 0) or module.hidden_size))


def _cell(module: Any, position: int) -> list[TensorSpec]:
    return _floats(("B", module.hidden_size if position else module.input_size))


def _attention(module: Any, position: int) -> list[TensorSpec]:
    size = (module.embed_dim, module.kdim, module.vdim)[position] if position < 3 else None
    if size is None:
        return [TensorSpec(("B", "T"), "bool"), TensorSpec(("T", "T"), "bool")]
    return _floats(("B", "T", size) if module.batch_first else ("T", "B", size), ("T", size))


def _layer(module: Any, position: int) -> list[TensorSpec]:
    attention = next((part for part in foreign.parts_of(module) if isinstance(part, nn.MultiheadAttention)), None)
    if attention is None:
        return []
    size, first = attention.embed_dim, attention.batch_first
    length = "S" if position == 1 and isinstance(module, (nn.Transformer, nn.TransformerDecoderLayer)) else "T"
    return _floats(("B", length, size) if first else (length, "B", size))


def _pair_loss(module: Any, position: int) -> list[TensorSpec]:
    return _floats(("B", "K"), ("B", "T", "D"), ("B", "C", "H", "W")) if position < 2 else []


def _class_loss(module: Any, position: int) -> list[TensorSpec]:
    return [TensorSpec(("B",), "int64"), TensorSpec(("B", "H", "W"), "int64")] if position else _floats(("B", "K"))


def _flatten(module: Any, position: int) -> list[TensorSpec]:
    return []


def _unflatten(module: Any, position: int) -> list[TensorSpec]:
    size = math.prod(module.unflattened_size) if isinstance(module.unflattened_size, (tuple, list)) else 0
    return _floats(("B", size)) if module.dim in (1, -1) and size > 0 else []


def _pixel_shuffle(module: Any, position: int) -> list[TensorSpec]:
    return _floats(("B", 4 * module.upscale_factor**2, "H", "W"))


_READERS: tuple[tuple[tuple[type, ...], Callable[[Any, int], list[TensorSpec]]], ...] = (
    ((nn.Linear,), _linear),
    ((nn.Bilinear,), _bilinear),
    ((nn.Conv1d, nn.ConvTranspose1d), _convolution(1)),
    ((nn.Conv2d, nn.ConvTranspose2d), _convolution(2)),
    ((nn.Conv3d, nn.ConvTranspose3d), _convolution(3)),
    ((nn.BatchNorm1d, nn.InstanceNorm1d), _norm(1)),
    ((nn.BatchNorm2d, nn.InstanceNorm2d), _norm(2)),
    ((nn.BatchNorm3d, nn.InstanceNorm3d), _norm(3)),
    ((nn.GroupNorm,), _group_norm),
    ((nn.LayerNorm, nn.RMSNorm), _layer_norm),
    ((nn.Embedding,), _embedding),
    ((nn.EmbeddingBag,), _embedding_bag),
    ((nn.RNN, nn.LSTM, nn.GRU), _recurrent),
    ((nn.RNNCell, nn.LSTMCell, nn.GRUCell), _cell),
    ((nn.MultiheadAttention,), _attention),
    (
        (
            nn.TransformerEncoderLayer,
            nn.TransformerDecoderLayer,
            nn.TransformerEncoder,
            nn.TransformerDecoder,
            nn.Transformer,
        ),
        _layer,
    ),
    (
        (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss, nn.KLDivLoss),
        _pair_loss,
    ),
    ((nn.CrossEntropyLoss, nn.NLLLoss), _class_loss),
    ((nn.Flatten,), _flatten),
    ((nn.Unflatten,), _unflatten),
    ((nn.PixelShuffle,), _pixel_shuffle),
    ((nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveAvgPool1d, nn.AdaptiveMaxPool1d), _of_rank(1)),
    ((nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Upsample), _of_rank(2)),
    ((nn.PixelUnshuffle, nn.Unfold), _of_rank(2)),
    ((nn.MaxPool3d, nn.AvgPool3d, nn.AdaptiveAvgPool3d, nn.AdaptiveMaxPool3d), _of_rank(3)),
)


def _sequential(module: nn.Sequential) -> list[TensorSpec]:
    """What the first telling member takes; one before it that only sets the rank takes its channels from it."""
    found: list[TensorSpec] = []
    for part in _telling(module):
        if isinstance(part, nn.Flatten):
            return _before_flatten(module) or _floats(("B", "C", "H", "W"))
        specs = accepted(part)
        if not specs:
            return found
        if not found:
            found = specs
        if isinstance(specs[0].dims[1] if len(specs[0].dims) > 1 else 0, int):
            same = [spec for spec in specs if len(spec.dims) == len(found[0].dims)]
            return (same or specs) if found[0].dims[1:2] == ("C",) else found
    return found


def _telling(module: nn.Module) -> Iterator[nn.Module]:
    for part in foreign.children_of(module):
        if isinstance(part, nn.Sequential):
            yield from _telling(part)
        elif not is_passing(part):
            yield part


def _before_flatten(module: nn.Sequential) -> list[TensorSpec]:
    linear = next((part for part in _telling(module) if isinstance(part, nn.Linear)), None)
    return flattened(linear.in_features) if linear is not None and linear.in_features else []


def flattened(size: int) -> list[TensorSpec]:
    """What is flattened to `size` numbers: a square image of one or three channels, or nothing but them."""
    found: list[TensorSpec] = []
    for channels in (1, 3):
        side = math.isqrt(size // channels)
        if side >= 8 and channels * side * side == size:
            found.append(TensorSpec(("B", channels, side, side)))
    return [*found, TensorSpec(("B", size))]
