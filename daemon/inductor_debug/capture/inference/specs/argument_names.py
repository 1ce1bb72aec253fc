"""What names say: of arguments (`input_ids`, `pixel_values`, `h0`) and of dimensions (`batch`, `seq_len`, `H`).

Tables only. A name is weak evidence, so several readings are given, likeliest first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch

from inductor_debug.capture.inference.specs.specs import ConstantSpec, Dimension, Spec, TensorSpec

DEFAULT_SIZES: dict[str, int] = {
    "B": 2,
    "T": 16,
    "S": 24,
    "C": 8,
    "D": 32,
    "H": 64,
    "W": 96,
    "Z": 32,
    "N": 40,
    "M": 56,
    "K": 5,
    "L": 128,
    "G": 4,
    "A": 4800,
}
"""Sizes by name: distinct, so that equal dimensions do not hide a mistake, and with many divisors."""
_SPARE_SIZES = (48, 72, 80, 112, 144, 160, 176, 208)

_BATCH = re.compile(r"(b|bs|bsz|batch(_?size)?|n_?batch|num_batch(es)?|nb)", re.IGNORECASE)
_CANONICAL: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"b|bs|bsz|batch(_?size)?|n_?batch|nb", "B"),
        (r"t|l|s|seq|seq_?len(gth)?|sequence(_length)?|time|tokens?|n_?tokens|num_tokens|src_len|steps|timesteps", "T"),
        (r"tgt_?len|target_len|s2|t2|m_len", "S"),
        (r"\w+_(len|length)|n_?ctx", "T"),
        (r"(n_?|num_?)?heads?|nh|n_head", "G"),
        (r"head_?dim|hd|d|dim|d_model|e|emb|embed_?dim|embedding_dim|hidden(_size|_dim)?|features?|in_features", "D"),
        (r"c|channels?|in_channels|ch", "C"),
        (r"h|height|img_?h|rows", "H"),
        (r"w|width|img_?w|cols", "W"),
        (r"n|nodes|num_nodes|n_nodes|points|n_points|num_points|objects", "N"),
    )
)

_I, _F, _B = "int64", "float32", "bool"


def canonical(name: str) -> str | None:
    """One name for all spellings of a usual dimension; None for others."""
    return next((short for pattern, short in _CANONICAL if pattern.fullmatch(name)), None)


_COUNT = re.compile(r"(?:n|nb|num|no|number_of)_(\w+)")


def spellings(name: str) -> tuple[str, ...]:
    """How an attribute that a dimension is called after may be spelled: `n_classes` is `num_classes`."""
    match = _COUNT.fullmatch(name)
    return (name, f"num_{match[1]}", f"n_{match[1]}") if match is not None else (name,)


def default_size(name: str, taken: Mapping[str, int]) -> int:
    """A size for the dimension `name`, different from those of the others."""
    known = DEFAULT_SIZES.get(name) or DEFAULT_SIZES.get(name[:1].upper() if len(name) == 1 else "")
    if known is not None and known not in taken.values():
        return known
    return next((size for size in _SPARE_SIZES if size not in taken.values()), 64)


def _tensor(*dims: Dimension, dtype: str = _F) -> TensorSpec:
    return TensorSpec(dims, dtype)


LENGTHS = r"(lengths?|lens?|seq_?lens?|.*_(lengths?|lens?))"
_IMAGE = (_tensor("B", 3, "H", "W"), _tensor("B", 1, "H", "W"))
_IDS = (_tensor("B", "T", dtype=_I), _tensor("B", dtype=_I), _tensor("T", dtype=_I))
_ONE = _IDS[1:]
_SEQUENCE = (_tensor("B", "T", "D"),)
_TIMES = (_tensor("T"), _tensor("B"), _tensor("B", "T"))
_STEP = (_tensor("B", dtype=_I), _tensor("B"), _tensor("B", 1))
_MASK = (
    _tensor("B", "T", dtype=_B),
    _tensor("T", "T", dtype=_B),
    _tensor("B", 1, "T", dtype=_B),
    _tensor("B", 1, "T", "T", dtype=_B),
    _tensor("B", "T"),
    _tensor("T", "T"),
)
_ADJACENCY = (_tensor("N", "N"), _tensor("B", "N", "N"))
_POINTS = (_tensor("B", "N", 3), _tensor("B", 3, "N"), _tensor("N", 3))

_ARGUMENTS: tuple[tuple[re.Pattern[str], tuple[TensorSpec, ...]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), specs)
    for pattern, specs in (
        (
            r"((decoder_|src_|tgt_)?(input_?ids?|tokens?|token_ids?|ids?|idx|indices|words|chars|text)|src_seq|tgt_seq)",
            _IDS,
        ),
        (r"(position|pos|token_type|segment|time|day|hour)s?(_ids?|_idx|_index)s?", _IDS),
        (r"(input_pos|cache_position|start_positions?)", (_tensor("T", dtype=_I), *_IDS)),
        (
            r"(user|item|movie|product|node|entity|class|cat|speaker|task|head|tail|relation)s?(_ids?|_idx|_index)s?",
            _ONE,
        ),
        (r"category|categories|genre|country|species", _ONE),
        (r"(encoder_)?hidden_states?|embeddings?|inputs_embeds|context|memory|patches|sequence|seq", _SEQUENCE),
        (r"(attention_mask|.*_attention_mask)", (_tensor("B", "T", dtype=_I), *_MASK)),
        (r"(.*key_padding_mask|padding_mask|pad_mask)", _MASK),
        (r"(attn_mask|causal_mask|src_mask|tgt_mask)", (_tensor("T", "T", dtype=_B), *_MASK)),
        (r"(.*_)?masks?", _MASK),
        (r"(pixel_values|images?|imgs?|rgb|photo|frame)", _IMAGE),
        (
            r"(pixel_values_videos|videos?|clips?|frames)",
            (_tensor("B", 3, "F", "H", "W"), _tensor("B", "F", 3, "H", "W")),
        ),
        (r"(input_values|waveforms?|wavs?|audio|signal|speech)", (_tensor("B", "A"), _tensor("B", 1, "A"))),
        (r"(mels?|spectrograms?|spec|mel_spec|input_features)", (_tensor("B", 80, "L"), _tensor("B", "L", 80))),
        (r"(timesteps?|t|time|step|noise_levels?|sigmas?)", _STEP),
        (r"(ts|tps|times|timestamps|t_(span|eval|local|points?)|(\w+_)?time_(steps|points)(_\w+)?)", _TIMES),
        (r"(labels?|targets?|y|classes|class_labels?|cls)", (_tensor("B", dtype=_I), _tensor("B", "T", dtype=_I))),
        (LENGTHS, (_tensor("B", dtype=_I),)),
        (r"(edge_index|edges)", (_tensor(2, "E", dtype=_I),)),
        (r"(batch_index|batch_idx|batch|ptr|graph_ids?)", (_tensor("N", dtype=_I),)),
        (r"(adj(acency)?(_?mat(rix)?)?|a|laplacian|a_hat)", _ADJACENCY),
        (r"(edge_attr|edge_weights?|edge_features?)", (_tensor("E", "D"), _tensor("E"))),
        (r"(points?|xyz|coords?|point_cloud|pc|positions?|pos)", _POINTS),
        (r"(\w+_)?grid_thws?", (TensorSpec((1, 3), _I, 4),)),
        (r"(\w+_)?bbox", (_tensor("B", "T", 4, dtype=_I), _tensor("B", 4))),
        (
            r"(boxes|bboxes|rois?|proposals|anchors|priors)(_(c?xc?y\w*|corners|centers))?",
            (_tensor("N", 4), _tensor("B", "N", 4), _tensor("N", 5)),
        ),
        (r"(rays?(_o|_d)?|origins?|directions?|viewdirs?)", (_tensor("N", 3),)),
        (r"(q|k|v|query|key|value|queries|keys|values)", (_tensor("B", "T", "D"), _tensor("B", "G", "T", "D"))),
    )
)
_NUMBERED = re.compile(r"([a-z]\w*[a-z])_?\d+")
"""One of several that are called alike: `image1`, `mask_2`."""
_STATE = re.compile(
    r"(h|c|hx|cx|h0|c0|h_0|c_0|hidden|hidden_state|state|states|h_prev|c_prev|prev_state|memory|rnn_state)"
)
_DTYPE_WORDS = (
    (re.compile(r"\b(LongTensor|Int(?:eger)?\b|Int64|long\b|int64)"), _I),
    (re.compile(r"\b(IntTensor|Int32|int32)"), "int32"),
    (re.compile(r"\b(BoolTensor|Bool\b|bool\b)"), _B),
    (re.compile(r"\b(HalfTensor|float16|Float16)"), "float16"),
    (re.compile(r"\b(BFloat16|bfloat16)"), "bfloat16"),
    (re.compile(r"\b(DoubleTensor|Float64|float64)"), "float64"),
    (re.compile(r"\b(FloatTensor|Float\b|Float32|float32)"), _F),
    (re.compile(r"\b(Complex|complex64)"), "complex64"),
)


def specs_for(name: str) -> list[TensorSpec]:
    """Tensors that an argument called `name` usually is."""
    plain = name.lower().strip("_")
    found = [spec for pattern, specs in _ARGUMENTS if pattern.fullmatch(plain) for spec in specs]
    numbered = _NUMBERED.fullmatch(plain)
    return found or (specs_for(numbered[1]) if numbered is not None else [])


def is_state(name: str) -> bool:
    """Whether `name` is what recurrent states are called."""
    return _STATE.fullmatch(name.lower()) is not None


def dtype_in(text: str) -> str | None:
    """The dtype that an annotation or a docstring names."""
    return next((dtype for pattern, dtype in _DTYPE_WORDS if pattern.search(text)), None)


def is_batch(name: str) -> bool:
    """Whether a dimension's name means the batch."""
    return _BATCH.fullmatch(name) is not None


_FLAG = re.compile(
    r"(is|use|with|return|output|do|no|has|need|apply|enable)_.*|training|train|verbose|causal|flag|sample|deterministic|inverse|reverse"
)
_STRING = re.compile(r"mode|reduction|kind|type|activation|method|phase|task")
_NUMBER = re.compile(
    r"(n|num|k|top|max|min)_.*|.*_(idx|id|len|length|size|steps?|ratio|scale|factor)|scale|alpha|beta|gamma|temperature|temp|eps|step|epoch|iteration|k|n|p|dim|layer|stride|dt"
)
_FLOAT = re.compile(r".*(ratio|scale|factor|alpha|beta|gamma|temp|eps|lr|weight|dt|p)$")


_OF_TORCH = {
    "device": ("torch.device('cpu')", torch.device("cpu")),
    "dtype": ("torch.float32", torch.float32),
}


def constants_for(name: str) -> list[Spec]:
    """Values that are no tensors for an argument called `name`."""
    plain = name.lower()
    if plain in _OF_TORCH:
        return [ConstantSpec(*_OF_TORCH[plain])]
    if _FLAG.fullmatch(plain):
        return [ConstantSpec("False", False), ConstantSpec("True", True)]
    if _STRING.fullmatch(plain):
        return [ConstantSpec("'train'", "train"), ConstantSpec("'mean'", "mean")]
    if _NUMBER.fullmatch(plain):
        number: Any = ConstantSpec("0.5", 0.5) if _FLOAT.fullmatch(plain) else ConstantSpec("1", 1)
        return [number, ConstantSpec("1", 1), ConstantSpec("2", 2)]
    return []


_EXTENT = re.compile(
    r".*(image|img|input|resolution|spatial|seq|block|context|max|window|n_?ctx|frames|num_(patches|tokens|nodes|points)|horizon|grid|mels?|n_fft|freqs?|shape)"
    r".*(size|res|resolution|len|length|height|width|dim|positions?|tokens|ctx|patches|nodes|points)?|size|height|width|length|seq_?len|n_?ctx|resolution|[hw]"
)


def is_extent(name: str) -> bool:
    """Whether an attribute or argument called `name` says how large an input is."""
    return _EXTENT.fullmatch(name.lower()) is not None


def is_extent_of_image(name: str) -> bool:
    """Whether an attribute that says how large an input is says it of an image."""
    return re.search(r"im(a)?g|resolution|height|width", name.lower()) is not None


def sides_of_image(name: str, value: object) -> tuple[int, int] | None:
    """Height and width of an image, where what is called so is two whole numbers."""
    if not (is_extent(name) and is_surely_of_image(name) and isinstance(value, list | tuple) and len(value) == 2):
        return None
    high, wide = value
    return (high, wide) if type(high) is int and type(wide) is int and min(high, wide) > 1 else None


def is_surely_of_image(name: str) -> bool:
    """The same, where the name leaves no doubt: a width may be anything's."""
    return re.search(r"im(a)?g|resolution", name.lower()) is not None


def is_lengths(name: str) -> bool:
    """Whether `name` is what the lengths of padded sequences are called."""
    return re.fullmatch(LENGTHS, name.lower()) is not None


def is_target(name: str) -> bool:
    """Whether `name` is what losses compare with."""
    return re.fullmatch(r"(y|y_true|targets?|labels?|ground_truth|gt|truth)", name.lower()) is not None
