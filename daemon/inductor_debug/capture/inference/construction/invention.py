"""Values for constructor arguments that nobody wrote down, by name and annotation: round sizes, small counts.

Sizes are multiples of 64, so that a width of ours never looks like an oddity of the user's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.number_conditions import meeting

_WIDE, _NARROW = 64, 32
_FEW, _OFTEN = 2, 16
"""How often each of several groups of layers, and how often at most anything, is repeated: more shows nothing new."""
_KERNEL = re.compile(r".*(kernel(_?size)?|ks|filter_?size)|(.*_)?k_?size", re.IGNORECASE)
_INTEGERS: tuple[tuple[re.Pattern[str], tuple[int, ...]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), values)
    for pattern, values in (
        (
            r".*(num|n|no)_?(classes|labels|outputs|actions|targets|tags|categories)|nclass|classes|out_classes|nc",
            (10, 2),
        ),
        (
            r".*(vocab|num_embeddings|n_?tokens?|num_tokens|dictionary|ntoken|num_(users|items|entities|relations)|n_(users|items))(_?size)?",
            (1000,),
        ),
        (r".*_per_[a-z]+", (1, 2)),
        (r"(d|dims?|size|channels)_?(of_)?heads?", (32, 16)),
        (r".*(heads?|nhead|n_head|num_groups|groups?)", (4, 1)),
        (
            r".*(layers?|depth|blocks?|n_layer|num_stages|repeats|hops|num_flows|num_steps|levels|convolutions|convs)",
            (2, 1),
        ),
        (_KERNEL.pattern, (3, 1)),
        (r".*(idx|index|axis)", (0, 1)),
        (r".*(frames|segments)", (8, 3)),
        (r".*stride", (1, 2)),
        (r".*(padding|pad)", (1, 0)),
        (r".*dilation", (1,)),
        (r".*patch(_?size)?", (16, 8)),
        (r".*(img|image|input)_?(size|res|resolution|h|w)|resolution", (64, 224)),
        (
            r"(in_?channels?|in_?ch|in_?chans|input_channels|channels_in|n_?channels|img_channels|c_in|num_channels|nc)",
            (3, 64, 1),
        ),
        (
            r".*(seq_?len(gth)?|block_?size|context(_?(len|length|size))?|max_?len(gth)?|max_seq_?len(gth)?|n_ctx|horizon|window(_?size)?|lookback)",
            (64, 16),
        ),
        (r".*(experts|num_codes|n_embed|codebook(_?size)?|num_nodes|num_points|num_queries|num_anchors)", (8, 64)),
        (
            r".*(ratio|expansion|mult(iplier)?|factor|scale|reduction|growth|top_?k|upscale(_factor)?|k|order|cardinality)",
            (2, 4),
        ),
        (
            r".*(dim|size|features?|channels?|width|hidden|units|planes|d_\w+|embed\w*|filters?|ch|dims|latent\w*|rank|emb|h|d|n_feat|nf|ngf|ndf|nz|in|out|inp|oup)",
            (_WIDE, _NARROW),
        ),
    )
)
_SEVERAL = ("layers", "hidden_sizes", "dims", "channels", "sizes", "hidden_dims", "widths", "features")
"""What lists of sizes are called, and now and then a single one: the last alternative."""
_ALTERNATIVES_OF_SEVERAL = 2
_BORDERS = re.compile(r".*(cut_?offs?|boundaries|borders|milestones|thresholds|edges)")
"""What has each number once, in order."""
_EXTENTS = re.compile(r".*(kernel|stride|padding|pad|dilation|patch|img|image|window|resolution)(_?(size|shape|res))?")
"""What has a number for the height and one for the width where it has several; in the plural, one for each layer."""
_FLOATS = re.compile(
    r".*(drop\w*|rate|prob|epsilon|alpha|beta|gamma|sigma|momentum|temperature|scale|weight|margin|lambda\w*|ratio|init_value)"
    r"|(.*_)?(p|eps|tau|lr|std)"  # words of their own: `n_steps` and `frames_per_step` are whole numbers
)
_SHARES = re.compile(r".*drop_?(out|path|rate)?(_?(rate|prob|p))?")
_TIMES = re.compile(r"(mlp|ffn?|feed_?forward|expan\w*|hidden|inner|intermediate)_?(ratio|factor|rate|scale)")
"""How many times as wide something is inside, whatever else is called a ratio."""
_MODULES = re.compile(r".*(act|activation|nonlinearity|act_layer|act_fn)")
_DEVICE = re.compile(r".*device")
_FILE = re.compile(r"(.*_)?(path|file|filename|checkpoint|ckpt|pth)")
_DTYPE = re.compile(r"(.*_)?dtype")
_NORMS = re.compile(r".*norm(_?(layer|class|cls|type|fn|func))?")
_LAYERS: dict[str, type[nn.Module]] = {"conv": nn.Conv2d, "linear": nn.Linear, "dropout": nn.Dropout}
"""What is made by classes that are called so."""
_WIDTHS = re.compile(r".*(sizes|dims|channels|hidden\w*|widths|filters|units|features|layers|planes|mlp)")


def constructor_value(
    name: str, annotation: str, known: dict[str, Any], alternative: int, demand: Demand | None = None
) -> Any:
    """A value for the argument `name`: by its annotation, by what the code asks of it, by its name.

    Args:
        name: the argument, or the field of a configuration.
        annotation: as text, perhaps empty.
        known: the arguments before it.
        alternative: how often the choice before did not do.
        demand: what the class's code does with it.
    """
    if demand is not None and demand.fields and is_device(name, demand):
        return torch.device("cpu")
    value = _suggested(name, annotation, known, alternative, demand)
    if type(value) is int and demand is not None and demand.conditions:
        return meeting(value, demand.conditions, alternative)
    return value


def is_device(name: str, demand: Demand) -> bool:
    """Whether something is called as devices are, and asked for nothing that they have not."""
    return _DEVICE.fullmatch(name.lower()) is not None and {"type", "index"}.issuperset(demand.fields)


def _suggested(name: str, annotation: str, known: dict[str, Any], alternative: int, demand: Demand | None) -> Any:
    text = annotation.replace("typing.", "").replace("Optional[", "").replace("<class '", "")
    lowered = text.lower().strip("'\" ")
    if lowered.startswith("bool"):
        return bool(alternative % 2)
    if lowered.startswith(("list", "sequence", "tuple", "iterable", "collection")):
        return _several(name, text, lowered, alternative, demand)
    # What sizes a layer and is computed with is no text, though what it is set to at times is compared with one.
    is_number = demand is not None and {"integer", "number"}.issubset(demand.roles)
    texts = demand.texts if demand is not None and not is_number else []
    if texts and not lowered.startswith(("int", "float")):
        return texts[min(alternative, len(texts) - 1)]
    if lowered.startswith("str"):
        return "relu" if _MODULES.fullmatch(name) else "mean" if "pool" in name or "reduc" in name else "same"
    if lowered.startswith("float"):
        return 0.1
    if "callable" in lowered or lowered.startswith("type["):
        return _norm(name, alternative) if _NORMS.fullmatch(name.lower()) else nn.ReLU
    if demand is not None and demand.lists:
        return demand.lists[min(alternative, len(demand.lists) - 1)]
    numbers = demand.numbers if demand is not None else []
    if numbers and not lowered.startswith("float"):
        return numbers[min(alternative, len(numbers) - 1)]
    if lowered.startswith("int"):
        return _divisible(integer(name, alternative), _divisor(name, demand))
    return _asked(name, alternative, demand) if demand is not None and demand.roles else _named(name, alternative)


def _asked(name: str, alternative: int, demand: Demand) -> Any:
    """A value that does what the code asks of it."""
    if "keyed" in demand.roles or ("mapping" in demand.roles and "sequence" not in demand.roles):
        fields = demand.fields or _one_of(name, demand)
        return {key: constructor_value(key, "", {}, alternative, inner) for key, inner in fields.items()}
    if (
        "flag" in demand.roles
        and {"flag", "optional"}.issuperset(demand.roles)
        and not any(pattern.fullmatch(name) for pattern, _ in _INTEGERS)
    ):
        return 0.1 if _FLOATS.fullmatch(name.lower()) else bool(alternative % 2)
    if "index" in demand.roles and not {"text", "mapping"}.intersection(demand.roles):
        return min(alternative, 1)
    if "share" in demand.roles:
        return 0.1
    if {"factory", "flag"}.issubset(demand.roles) or {"factory", "optional"}.issubset(demand.roles):
        return None
    if demand.roles == ["optional"] and not alternative and not _is_number(name):
        return None  # `config.norm_layer or nn.BatchNorm2d`: the class knows better
    if "factory" in demand.roles and _NORMS.fullmatch(name.lower()):
        return _norm(name, alternative)
    if "factory" in demand.roles and (layer := _layer(name, demand)) is not None:
        return layer
    if "repetitions" in demand.roles and "sequence" not in demand.roles:
        known = any(pattern.fullmatch(name) for pattern, _ in _INTEGERS)
        return min(integer(name, alternative), _OFTEN) if known else (_FEW, 1)[min(alternative, 1)]
    if "integer" in demand.roles:
        return _divisible(integer(name, alternative), _divisor(name, demand))
    if "sequence" in demand.roles:
        several = _several(name, "", "", alternative, demand)
        return tuple(several) if "tuple" in demand.roles else several
    if {"callable", "factory"}.intersection(demand.roles) and not _MODULES.fullmatch(name):
        return nn.Identity  # which takes any arguments
    if "text" in demand.roles:
        return "relu" if _MODULES.fullmatch(name) else "same"
    return _named(name, alternative, single="number" in demand.roles)


def _one_of(name: str, demand: Demand) -> dict[str, Demand]:
    """The one entry of a dict of which no keys are known; its keys and its values are asked for in one demand."""
    if demand.item is None:
        return {}
    roles = [role for role in demand.item.roles if role not in ("index", "text")]
    return {name.removesuffix("s"): replace(demand.item, roles=roles, texts=[])}


def _is_number(name: str) -> bool:
    """Whether an argument is called as numbers are, or as a device or a dtype is, and not as layers are."""
    if _NORMS.fullmatch(name.lower()) or _MODULES.fullmatch(name):
        return False
    of_numbers = any(pattern.fullmatch(name) for pattern, _ in _INTEGERS) or name.lower() in _SEVERAL
    return of_numbers or any(known.fullmatch(name.lower()) for known in (_FLOATS, _DEVICE, _DTYPE))


def _divisor(name: str, demand: Demand | None) -> int:
    """What a number is to be a multiple of. Half a kernel is its padding, and the whole has a middle."""
    return 1 if demand is None or (demand.divisor == 2 and _KERNEL.fullmatch(name)) else demand.divisor


def _divisible(number: int, divisor: int) -> int:
    """A number, or the least one above it that can be divided."""
    return -(-number // divisor) * divisor


def _named(name: str, alternative: int, *, single: bool = False) -> Any:
    """A value that the name suggests, which may be a list unless it is to be a `single` one."""
    if _SHARES.fullmatch(name.lower()):
        return 0.1
    if _TIMES.fullmatch(name.lower()):
        return (4, 2, 1)[min(alternative, 2)]
    if _DEVICE.fullmatch(name.lower()):
        return "cpu"
    if _FILE.fullmatch(name.lower()):
        return "absent.pth"  # weights that are not there are left out
    if _DTYPE.fullmatch(name.lower()):
        return torch.float32
    if _MODULES.fullmatch(name):
        return nn.ReLU
    if _NORMS.fullmatch(name.lower()):
        return _norm(name, alternative)
    if not single and name.lower() in _SEVERAL and alternative < _ALTERNATIVES_OF_SEVERAL:
        return [_NARROW, _WIDE, 2 * _WIDE][: 3 if alternative != 1 else 2]
    if _FLOATS.fullmatch(name.lower()) and not any(p.fullmatch(name) for p, _ in _INTEGERS[:3]):
        # A scale may also be how many times as large something is.
        return integer(name) if alternative and any(p.fullmatch(name) for p, _ in _INTEGERS) else 0.1
    return integer(name, alternative)


def _layer(name: str, demand: Demand) -> type[nn.Module] | None:
    """A class of layers that is built as the code builds what is called `name`; None where it may be any other."""
    if demand.calls and not any(call.positional or call.named for call in demand.calls):
        return nn.ReLU
    return next((kind for word, kind in _LAYERS.items() if word in name.lower()), None)


def _norm(name: str, alternative: int) -> type[nn.Module]:
    """A class of layers that norm."""
    if "batch" in name.lower():
        return nn.BatchNorm2d
    return (nn.LayerNorm, nn.BatchNorm2d, nn.BatchNorm1d)[min(alternative, 2)]


def integer(name: str, alternative: int = 0) -> int:
    """A whole number for something called `name`."""
    for pattern, values in _INTEGERS:
        if pattern.fullmatch(name):
            return values[min(alternative, len(values) - 1)]
    return (_WIDE, 2, 1)[min(alternative, 2)]


def _several(name: str, text: str, lowered: str, alternative: int, demand: Demand | None) -> Any:
    count = lowered.count("int") or lowered.count("float")
    single = name.rstrip("s")
    if "str" in lowered:
        return ["a", "b"]
    if lowered.startswith("tuple") and count > 1 and "..." not in text:
        return tuple(integer(single, alternative) for _ in range(count))
    if "bool" in lowered:
        return [True, False]
    least = demand.count if demand is not None else 0
    if demand is not None and demand.item is not None and "repetitions" in demand.item.roles:
        return [min(integer(single, alternative), _FEW)] * max(least, 3 if alternative == 0 else 2)
    if (least == 2 and not _WIDTHS.fullmatch(name)) or (not least and not alternative and _EXTENTS.fullmatch(name)):
        return (integer(single, alternative),) * 2
    if demand is not None and demand.item is not None and (demand.item.unpacked or "sequence" in demand.item.roles):
        return [_several(single, "", "", alternative, demand.item)] * max(least, _FEW)
    if _KERNEL.fullmatch(single):
        # Odd ones have a middle; what is shared out among two of them can be halved, as most numbers can.
        return [3 + 2 * number for number in range(max(least, 2 if not alternative else 3))]
    if _WIDTHS.fullmatch(name):
        return [_NARROW << number for number in range(max(least, 3))]
    if _BORDERS.fullmatch(name.lower()):
        return [_FEW * (number + 1) for number in range(max(least, _FEW))]
    return [integer(single, alternative)] * max(least, 3 if alternative == 0 else 2)


class GuessedConfiguration:
    """Stands in for a configuration of an unknown class: what the file says of a field, else a value by its name.

    Args:
        fields: what is known of some fields.
    """

    def __init__(self, fields: dict[str, Any] | None = None) -> None:
        vars(self).update(fields or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = constructor_value(name, "", {}, 0)
        setattr(self, name, value)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """As a dict's."""
        return vars(self)[name] if name in vars(self) else default if default is not None else getattr(self, name)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in vars(self)


GuessedConfiguration.__name__ = GuessedConfiguration.__qualname__ = "configuration"
"""What exceptions call it, which users read."""


def configuration_of(value: Any) -> Any:
    """A table whose items are attributes as well, as the libraries for configurations have them."""
    if isinstance(value, dict):
        return GuessedConfiguration({key: configuration_of(item) for key, item in value.items()})
    return [configuration_of(item) for item in value] if isinstance(value, list) else value


def in_spaces(value: Any) -> Any:
    """A table, as what can be written as an expression."""
    if isinstance(value, list):
        return list(map(in_spaces, value))
    return (
        SimpleNamespace(**{key: in_spaces(item) for key, item in value.items()}) if isinstance(value, dict) else value
    )


def holds_code(value: Any) -> bool:
    """Whether a value is a module or a function, or has one inside."""
    if isinstance(value, SimpleNamespace):
        value = vars(value)
    parts = value.values() if type(value) is dict else value if isinstance(value, list | tuple) else ()
    return callable(value) or any(map(holds_code, parts))
