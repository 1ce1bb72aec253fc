"""Reads exceptions of Python's and torch's, whose text is often all they tell of what a call should have been given.

Repairs of inputs ask for facts here and never look at the text themselves. The words are those of torch 2.11 to 2.14
and Python 3.10 to 3.14; where they change, fewer facts are found and other repairs are tried.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass

import torch

from inductor_debug.capture.runtime.scripted_errors import said_by

_DIGITS = re.compile(r"\d+")
_NUMBERS = re.compile(r"(?<![\w.])\d+(?![\w.]*\w|-D\b)")
_RANKS = re.compile(r"(?:Expected|number of dimensions: got) (\d)(?:-D tensors, but got| and) (\d)")
_MOST_NUMBERS = 8
_LISTS = re.compile(r"\[(\d+(?:, ?\d+)+)\]")
_UNPACK = re.compile(r"(?:not enough|too many) values to unpack \(expected (\d+)(?:, got (\d+))?")
_BESIDE = re.compile(
    r"must match except in dimension \d+\. Expected (?:size )?(\d+)(?: in dimension \d+)? but got (?:size )?(\d+)"
)
_PADDED = re.compile(
    r"[Pp]adding size should be less than .* padding \((\d+), \d+\) at dimension (\d+)"
    r" of input (?:torch\.Size\()?\[([\d, ]+)\]"
)
_OUT_OF_RANGE = re.compile(r"IndexError: index (\d+) is out of range")
_VOLUMES = re.compile(r"shape '\[([\d, -]+)\]' is invalid for input of size (\d+)")
_VIEW = re.compile(r"shape '\[-1, (\d+)\]' is invalid for input of size")
_BATCHED_VIEW = re.compile(r"shape '\[-?\d+((?:, \d+)+)\]' is invalid for input of size")
_KEY = re.compile(r"KeyError: '(\w+)'")
_BROADCAST_SHAPES = re.compile(r"had torch\.Size\(\[([\d, ]+)\]\); but expected shape .* to \[([\d, ]+)\]")
_NO_ATTRIBUTE = re.compile(r"AttributeError: '(?:Fake)?Tensor' object has no attribute '(\w+)'")
_DIFFERING = re.compile(
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)"
)
_MULTIPLIED = re.compile(
    r"multiplied \(\d+x(\d+) and (\d+)x\d+\)|reduction dim, but got \[\d+, (\d+)\] X \[(\d+), \d+\]"
)
_EXPECTED_DIMS = re.compile(r"[Ee]xpected (\d) dims\b")
_TIMES = re.compile(r"(?<=\d)x(?=\d)")
_BROADCAST = re.compile(r"broadcast|must match the size of tensor")
_WRONG_CALL = re.compile(
    r"TypeError: [\w.<>]+\(\) "
    r"(?:missing \d+ required|takes (?:\d+|from)|got (?:an unexpected|multiple values|some positional))"
)
_WRONG_SUPER = re.compile(r"TypeError: super\(type, obj\): obj .*must be an instance or subtype of type")
_REMOVED = re.compile(
    r"RuntimeError: (This function .*\bremoved\b|Legacy autograd function\b|\w+ requires the \w+ parameter be given\b)"
)
_SUBTRACTS_BOOL = re.compile(r"RuntimeError: Subtraction, the `-` operator, with (?:a|two) bool tensors?")
_WANTS_MAPPING = re.compile(r"has no attribute '(items|keys)'|string indices")
_WANTS_SEQUENCE = re.compile(
    r"must be (a )?tuple|cannot be unpacked|not iterable|'tuple' object|'list' object|list of|tuple of|as element"
)
_WANTS_TENSOR = re.compile(r"object has no attribute|must be Tensor|not Tensor|unsupported operand type")
_NEEDS_GRADIENT = re.compile(r"(does not|doesn't) require grad|element 0 of tensors|requires_grad")
_BELOW_ZERO = re.compile(r"index -\d+ is out of bounds")
_INDICES = re.compile(r"too many indices|shape of the mask")
_NOTHING = re.compile(
    r"of 0 elements|non-empty|numel\(\) == 0|of size 0\b|zero-size|size zero|has to be greater than 0"
)
_RANK = re.compile(
    r"Dimension out of range|too many indices|[1-6]-?D\b|dimensions?|rank|ndim|unflatten|einsum|permute|"
    r"transpose|list index out of range|tuple index out of range|IndexError",
    re.IGNORECASE,
)
_DTYPES = {
    "complex64": re.compile(r"(only supported for|requires a|expected a?) ?complex", re.IGNORECASE),
    "int64": re.compile(
        r"Long|Int\b|indices|index|integer|expected.*int64|must be.*int|one_hot|bitwise", re.IGNORECASE
    ),
    "float32": re.compile(
        r"Float|floating|Half|same dtype|dtype|not implemented for|Input type|mixed dtype|mean\(\)|result type|complex",
        re.IGNORECASE,
    ),
    "bool": re.compile(r"\bbool", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Raised:
    """What an exception says; `text` begins with its class and is empty where nothing was raised."""

    text: str

    @staticmethod
    def by(error: BaseException | None) -> Raised:
        """What `error` says."""
        return Raised("" if error is None else f"{type(error).__name__}: {said_by(error)}")

    @property
    def kind(self) -> str:
        """The same for exceptions that differ only in the numbers they name."""
        return _DIGITS.sub("0", self.text)

    @property
    def needs_gradient(self) -> bool:
        """Whether the call works only while gradients are recorded."""
        return _NEEDS_GRADIENT.search(self.text) is not None

    @property
    def about_nothing(self) -> bool:
        """Whether a tensor had no elements, though it should have some."""
        return _NOTHING.search(self.text) is not None

    @property
    def about_rank(self) -> bool:
        """Whether the number of dimensions may be wrong."""
        return _RANK.search(self.text) is not None

    @property
    def about_indices(self) -> bool:
        """Whether a tensor was indexed by more, or by others, than it has dimensions and sizes."""
        return self.text.startswith("IndexError: ") and _INDICES.search(self.text) is not None

    @property
    def below_zero(self) -> bool:
        """Whether an index was negative: it was made of a number that the call is given."""
        return _BELOW_ZERO.search(self.text) is not None

    @property
    def wants_shares(self) -> bool:
        """Whether numbers are to lie between 0 and 1, as those of a cross-entropy do."""
        return "between 0 and 1" in self.text

    @property
    def about_broadcasting(self) -> bool:
        """Whether shapes could not be broadcast to each other."""
        return _BROADCAST.search(self.text) is not None

    @property
    def broadcast_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The shape that could not be broadcast, and the one that it was to be broadcast to, where both are told."""
        match = _BROADCAST_SHAPES.search(self.text)
        if match is None:
            return None
        given, wanted = (tuple(map(int, shape.split(","))) for shape in match.groups())
        return given, wanted

    @property
    def differing_ranks(self) -> tuple[int, int] | None:
        """How many dimensions two tensors have that are joined and should have as many."""
        match = _RANKS.search(self.text)
        return None if match is None else (int(match[1]), int(match[2]))

    @property
    def about_joining(self) -> bool:
        """Whether tensors could not be joined."""
        return self.differing_ranks is not None or self.joined_sizes is not None

    @property
    def differing_sizes(self) -> tuple[int, int, int] | None:
        """Two sizes that differ where one is broadcast to the other, and at which dimension of the result."""
        match = _DIFFERING.search(self.text)
        return None if match is None else (int(match[1]), int(match[2]), int(match[3]))

    @property
    def about_arrays(self) -> bool:
        """Whether an array of NumPy's was to be something else, or something else one."""
        return "ndarray" in self.text

    @property
    def about_none(self) -> bool:
        """Whether something was None that should not have been."""
        return "None" in self.text

    @property
    def about_few_examples(self) -> bool:
        """Whether a layer that is trained on several examples was given one: how many there are, values may decide."""
        return "Expected more than 1 value per channel" in self.text

    @property
    def about_methods(self) -> bool:
        """Whether a method was used as a value: `image.size[0]` of what is no picture, but a tensor."""
        return "builtin_function_or_method' object is not" in self.text

    @property
    def about_tensors(self) -> bool:
        """Whether tensors are spoken of."""
        return "ensor" in self.text

    @property
    def attribute_of_no_tensor(self) -> str | None:
        """What was read from a tensor that has no such attribute, nor one that is called nearly so."""
        name = _first(_NO_ATTRIBUTE, self.text)
        return None if name is None or difflib.get_close_matches(name, dir(torch.Tensor), 1, 0.8) else name

    @property
    def arguments_do_not_fit(self) -> bool:
        """Whether Python itself, which gives such errors no facts, says that arguments do not fit a function."""
        return _WRONG_CALL.match(self.text) is not None

    @property
    def names_another_class_to_super(self) -> bool:
        """Whether `super(Other, self)` names a class that the object is none of, which Python alone tells."""
        return _WRONG_SUPER.match(self.text) is not None

    @property
    def is_removed(self) -> bool:
        """Whether a function of torch's does nothing any more but say so, or not as the code calls it."""
        return _REMOVED.match(self.text) is not None

    @property
    def subtracts_bool(self) -> bool:
        """Whether a tensor of truth values was subtracted, or subtracted from, as masks were before torch 1.2."""
        return _SUBTRACTS_BOOL.match(self.text) is not None

    @property
    def done_with_none(self) -> bool:
        """Whether Python refused to do something with None."""
        return "NoneType" in self.text

    @property
    def not_callable(self) -> bool:
        """Whether something was called that is no function."""
        return "not callable" in self.text

    @property
    def wants_mapping(self) -> bool:
        """Whether a dictionary was expected."""
        return _WANTS_MAPPING.search(self.text) is not None

    @property
    def wants_sequence(self) -> bool:
        """Whether a tuple or a list was expected, or one of another length."""
        return _WANTS_SEQUENCE.search(self.text) is not None

    @property
    def wants_tensor(self) -> bool:
        """Whether a tensor was expected in place of something else."""
        return _WANTS_TENSOR.search(self.text) is not None

    @property
    def wanted_dtypes(self) -> list[str]:
        """The dtypes that may have been expected, likeliest first."""
        return [dtype for dtype, words in _DTYPES.items() if words.search(self.text)]

    @property
    def missing_key(self) -> str | None:
        """The key that a dictionary did not have."""
        return _first(_KEY, self.text)

    @property
    def unpacked_into(self) -> int | None:
        """How many values something was to be unpacked into, where it had more or fewer."""
        count = _first(_UNPACK, self.text)
        return None if count is None else int(count)

    @property
    def lacking_values(self) -> int:
        """How many values fewer something had than it was to be unpacked into; negative where it had more."""
        match = _UNPACK.search(self.text)
        return int(match[1]) - int(match[2]) if match is not None and match[2] else 0

    @property
    def parts_there_are(self) -> int | None:
        """How many parts something has of which one more was asked for: three, where `index 3 is out of range`."""
        count = _first(_OUT_OF_RANGE, self.text)
        return None if count is None else int(count)

    @property
    def padded_size(self) -> tuple[int, int] | None:
        """By how much a tensor was to be padded with what it has, and the size along it that does not suffice."""
        match = _PADDED.search(self.text)
        return None if match is None else (int(match[1]), int(match[3].split(",")[int(match[2])]))

    @property
    def joined_sizes(self) -> tuple[int, int] | None:
        """Two sizes that are to be equal for tensors to be joined: that of the first, and the one that differs."""
        match = _BESIDE.search(self.text)
        return None if match is None else (int(match[1]), int(match[2]))

    @property
    def multiplied_sizes(self) -> tuple[int, int] | None:
        """The rows of a matrix that something was multiplied with, and the columns that this had instead."""
        match = _MULTIPLIED.search(self.text)
        return None if match is None else (int(match[2] or match[4]), int(match[1] or match[3]))

    @property
    def expected_dims(self) -> int | None:
        """How many dimensions a pattern has that a tensor was to be taken apart by."""
        count = _first(_EXPECTED_DIMS, self.text)
        return None if count is None else int(count)

    @property
    def last_size_of_view(self) -> int | None:
        """21 where a tensor was to become `[-1, 21]` and has another number of elements."""
        size = _first(_VIEW, self.text)
        return None if size is None else int(size)

    @property
    def elements_of_view(self) -> int | None:
        """The elements for each of the first dimension where a tensor was to become `[-1, 128, 1024]`: 131,072."""
        sizes = _first(_BATCHED_VIEW, self.text)
        return None if sizes is None else math.prod(int(size) for size in sizes.split(",")[1:])

    @property
    def volumes_of_view(self) -> tuple[int, int] | None:
        """How many elements a shape has, or its known sizes, and how many the tensor had that was to get it."""
        match = _VOLUMES.search(self.text)
        return (abs(math.prod(self.shape_of_view)), int(match[2])) if match is not None else None

    @property
    def shape_of_view(self) -> tuple[int, ...]:
        """The shape that a tensor was to get and has too few or too many elements for; empty where none was."""
        match = _VOLUMES.search(self.text)
        return tuple(int(size) for size in match[1].split(",")) if match is not None else ()

    @property
    def by_user(self) -> bool:
        """Whether user code asserts it, and nobody else raises such a kind."""
        return self.text.startswith("AssertionError:")

    @property
    def numbers(self) -> list[int]:
        """The numbers that it names, and what lists of them add up to: `split_sizes=[3, 3]` wants six."""
        sums = [sum(map(int, numbers.split(","))) for numbers in _LISTS.findall(self.text)]
        found = [*map(int, _NUMBERS.findall(_TIMES.sub(" x ", self.text.replace(",", " , "))))][:_MOST_NUMBERS]
        return list(dict.fromkeys((*sums[:2], *found) if "split" in self.text else found))

    def names(self, name: str) -> bool:
        """Whether the name occurs in it."""
        return re.search(rf"\b{re.escape(name)}\b", self.text) is not None


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match[1]
