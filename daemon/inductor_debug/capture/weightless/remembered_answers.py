"""What fake tensors were answered before, found again without torch's own cache, whose keys cost more than an op.

torch answers an operation on fake tensors from a cache of its own, by a key of the arguments' metadata that it makes
anew each time. The key here has the same in it, read with as few calls as possible, and leads to the very entry of
torch's cache: whatever is not certain to have one is left to torch. A model of equal layers asks the same again in
each. Private names of `torch._subclasses.fake_tensor`, read in torch 2.13; with another torch nothing is remembered.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    FakeTensor,
    FakeTensorMode,
    extract_tensor_metadata,
    in_kernel_invocation_manager,
)

_KNOWN = ("2.13.",)
_PLAIN = frozenset({int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format})
_SEVERAL = (list, tuple)
_UNSAFE_VIEW = torch.ops.aten._unsafe_view.default
"""torch's cache leaves it out, for it shares memory and is no view to it; most linear layers end with one."""
UNKNOWN = object()
"""In place of an answer."""
_NONE = object()
"""In place of an entry: torch's cache keeps none for such an operation, but computes it anew each time."""


class _Answer:
    """What is known of an operation that was asked for: the `entry` of torch's cache.

    Once torch has made a tensor from it, if it is one, `looks` are that one's, and `state` its attributes; it is a view
    of the argument with the number `view_of`, if of any.
    """

    __slots__ = ("entry", "looks", "state", "view_of")

    def __init__(self, entry: Any) -> None:
        self.entry = entry
        self.looks: Any = None
        self.state: dict[str, Any] = {}
        self.view_of: int | None = None

    def made(self, tensor: FakeTensor, looks: Any, view_of: int | None) -> None:
        """The answer is another tensor like this one."""
        self.looks, self.state, self.view_of = looks, dict(vars(tensor)), view_of


class _Asked:
    """An operation that torch is asked for; `entry` is what its cache has for it, once that is known."""

    __slots__ = ("arguments", "entry", "function")

    def __init__(self, function: Any, arguments: Any) -> None:
        self.function, self.arguments = function, arguments
        self.entry: Any = None


class RememberingMode(FakeTensorMode):  # type: ignore[no-untyped-call]
    """torch's own mode, which finds again by itself what its cache has answered."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._remembers = torch.__version__.startswith(_KNOWN)
        self._answers: dict[Any, _Answer] = {}
        self._asked: list[_Asked] = []

    def answer(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """What an operation gives: what `__torch_dispatch__` of torch's mode would."""
        key = self._key(func, args, kwargs) if self._remembers else None
        if key is None:
            return super().__torch_dispatch__(func, types, args, kwargs)
        known = self._answers.get(key)
        if known is not None:
            if known.entry is _NONE and known.looks is None:
                return self._dispatch_impl(func, types, args, kwargs)
            return self._given_again(known, func, args)
        asked = _Asked(func, args)
        self._asked.append(asked)
        try:
            result: Any = super().__torch_dispatch__(func, types, args, kwargs)
        finally:
            self._asked.pop()
        if asked.entry is not None:
            self._answers[key] = known = _Answer(asked.entry)
            if func is _UNSAFE_VIEW and asked.entry is _NONE and _is_plain_view(result, args[0]):
                known.made(result, extract_tensor_metadata(result), 0)
        return result

    def at_once(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What an operation gives, for who would ask this mode next; `UNKNOWN` where the way there is to be gone."""
        key = self._key(func, args, kwargs) if self._remembers else None
        known = None if key is None else self._answers.get(key)
        if known is None or (known.entry is _NONE and known.looks is None):
            return UNKNOWN
        return self._given_again(known, func, args)

    def _given_again(self, known: _Answer, func: Any, args: Any) -> Any:
        if known.looks is not None:
            return self._made(known, args)
        of_torch: Any = super()
        # Its other arguments are for sizes that are symbols.
        result = of_torch._output_from_cache_entry(None, known.entry, None, func, args)
        if type(result) is FakeTensor and _is_plain(known.entry):
            info = known.entry.output_infos[0]
            known.made(result, info.metadata, info.view_idx if func.is_view else None)
        return result

    def _made(self, known: _Answer, args: Any) -> Any:
        """What torch's constructor makes of the metadata of a tensor, with fewer questions."""
        looks = known.looks
        with in_kernel_invocation_manager(self):
            made = torch.empty_strided(
                looks.shape, looks.stride, dtype=looks.dtype, device="meta", requires_grad=looks.requires_grad
            )
            if known.view_of is not None:
                storage = args[known.view_of].untyped_storage()
                made.set_(storage, looks.storage_offset, looks.shape, looks.stride)
        result: Any = torch.Tensor._make_subclass(
            FakeTensor, made, looks.requires_grad, dispatch_device=True, device_for_backend_keys=looks.device
        )
        if self._allow_unsafe_data_ptr_access:
            torch._C._set_warn_deprecated_on_mutable_data_ptr(result)
        else:
            torch._C._set_throw_on_mutable_data_ptr(result)
        result.__dict__.update(known.state)
        return result

    def _key(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, ...] | None:
        """All that torch's key depends on; None where it has none, or may have more in it."""
        if not args or not self.cache_enabled or self.cache_crosscheck_enabled or self.shape_env is not None:
            return None
        if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY) is not None:
            return None
        # The dtype and the device are those of what is made from numbers.
        key = [func, torch.get_default_dtype(), torch._C._get_default_device(), torch.is_inference_mode_enabled()]
        if self._reads(args, key) and (not kwargs or self._reads(kwargs.values(), key)):
            return (*key, *kwargs)
        return None

    def _reads(self, values: Any, key: list[Any]) -> bool:
        """Writes down what values look like; whether that is all that there is to know of them."""
        for value in values:
            kind = type(value)
            if kind is FakeTensor:
                if value.fake_mode is not self or value.constant is not None or value.layout is not torch.strided:
                    return False
                if value._has_symbolic_sizes_strides:
                    return False
                key += (
                    kind,
                    value.dtype,
                    value.shape,
                    value.stride(),
                    value.fake_device,
                    value.storage_offset(),
                    value.untyped_storage().nbytes(),
                    value.requires_grad,
                    value.is_conj(),
                    value.is_neg(),
                    value.is_inference(),
                )
            elif kind in _PLAIN:
                key += (kind, value)
            elif kind in _SEVERAL:
                key += (kind, len(value))
                if not self._reads(value, key):
                    return False
            else:
                return False
        return True

    def _cached_dispatch_impl(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self._note(func, args, _NONE)
        return super()._cached_dispatch_impl(func, types, args, kwargs)

    def _make_cache_entry(self, state: Any, key: Any, func: Any, args: Any, kwargs: Any, output: Any) -> Any:
        try:
            entry = super()._make_cache_entry(state, key, func, args, kwargs, output)
        except BaseException:
            # On its way it has tried what it would have answered.
            self._note(func, args, _NONE)
            raise
        self._note(func, args, entry)
        return entry

    def _output_from_cache_entry(self, state: Any, entry: Any, key: Any, func: Any, args: Any) -> Any:
        self._note(func, args, entry)
        return super()._output_from_cache_entry(state, entry, key, func, args)

    def _note(self, func: Any, args: Any, entry: Any) -> None:
        """Takes note of the entry of what is asked for; operations that torch does on the way are others."""
        if self._asked and self._asked[-1].arguments is args and self._asked[-1].function is func:
            self._asked[-1].entry = entry


def _is_plain(entry: Any) -> bool:
    """Whether an entry says of one tensor what it looks like, and no more."""
    if entry.is_output_tuple:
        return False
    info = entry.output_infos[0]
    looks = info.metadata
    return info.inplace_idx is None and looks is not None and not looks.is_conj and not looks.is_neg


def _is_plain_view(result: Any, viewed: Any) -> bool:
    """Whether what was made of a tensor is nothing but another look at its memory."""
    if type(result) is not FakeTensor or result.constant is not None or result.is_conj() or result.is_neg():
        return False
    return bool(result.untyped_storage()._cdata == viewed.untyped_storage()._cdata)
