"""Kernel files of Spyre's compiler, `sdsc_<i>.json`: one operation, its loops, work division and tensors.

Only what is shown is read; a SuperDSC has much more. Read against torch-spyre of 2026 and its interface specification.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from inductor_debug.compiler_output.files.confined_files import FileFaultError


@dataclass(frozen=True, slots=True)
class DscTensor:
    """A tensor of an operation: the dimensions outside of the stick and in it, where it lies, and how scaled.

    `present` has the names of its dimensions; the others of the operation are broadcast or reduced in it.
    """

    name: str
    output: bool
    device_dtype: str
    dimensions: list[str] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    stick_dimensions: list[str] = field(default_factory=list)
    stick_sizes: list[int] = field(default_factory=list)
    memory: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class SuperDsc:
    """One operation: padded sizes by dimension, into how many slices each is cut, and how many cores work on it."""

    op: str
    unit: str
    cores: int | None
    sizes: dict[str, int]
    slices: dict[str, int]
    tensors: list[DscTensor]


def read_super_dsc(said: Any) -> SuperDsc:
    """Reads a SuperDSC.

    Raises:
        FileFaultError: it is none.
    """
    if not isinstance(said, dict) or len(said) != 1:
        raise FileFaultError("it is no SuperDSC: it has not one operation at its top")
    ((name, outer),) = said.items()
    described = _list(_dict(outer, name).get("dscs_"), "dscs_")
    if not described:
        raise FileFaultError("`dscs_` is empty")
    first = _dict(described[0], "dscs_[0]")
    if len(first) != 1:
        raise FileFaultError("`dscs_[0]` has not one operation")
    ((op, inner),) = first.items()
    inner = _dict(inner, op)
    compute = _list(inner.get("computeOp_", []), "computeOp_")
    how = _dict(compute[0], "computeOp_[0]") if compute else {}
    sizes = {key.removesuffix("_"): size for key, size in _dict(inner.get("N_"), "N_").items() if _is_count(size)}
    slices = {
        key: size
        for key, size in _dict(outer.get("numWkSlicesPerDim_", {}), "numWkSlicesPerDim_").items()
        if _is_count(size)
    }
    cores = outer.get("numCoresUsed_")
    return SuperDsc(
        str(how.get("opFuncName", op))[:200],
        str(how.get("exUnit", ""))[:80],
        cores if _is_count(cores) else None,
        sizes,
        slices,
        _tensors(inner, [str(each) for each in _list(how.get("outputLabeledDs", []), "outputLabeledDs")]),
    )


def _tensors(inner: dict[str, Any], outputs: list[str]) -> list[DscTensor]:
    layouts = _dict(inner.get("primaryDsInfo_", {}), "primaryDsInfo_")
    allocations = {
        node.get("ldsIdx_"): node
        for node in _list(inner.get("scheduleTree_", []), "scheduleTree_")
        if isinstance(node, dict) and node.get("nodeType_") == "allocate"
    }
    found = []
    for index, said in enumerate(_list(inner.get("labeledDs_", []), "labeledDs_")):
        tensor = _dict(said, f"labeledDs_[{index}]")
        name, number = str(tensor.get("dsName_", f"Tensor{index}")), tensor.get("ldsIdx_", index)
        layout = _dict(layouts.get(str(tensor.get("dsType_")), {}), "primaryDsInfo_")
        dimensions = [str(each) for each in _list(layout.get("layoutDimOrder_", []), "layoutDimOrder_")]
        scales = _list(tensor.get("scale_", []), "scale_")
        allocation = allocations.get(number, {})
        found.append(
            DscTensor(
                name,
                f"{name}-idx{number}" in outputs,
                str(tensor.get("dataFormat_", "")),
                dimensions,
                [each for each, scale in zip(dimensions, scales, strict=False) if scale == 1],
                [str(each) for each in _list(layout.get("stickDimOrder_", []), "stickDimOrder_")],
                [size for size in _list(layout.get("stickSize_", []), "stickSize_") if _is_count(size)],
                str(allocation.get("component_", "")),
                _address(allocation),
            )
        )
    return found


def _address(allocation: dict[str, Any]) -> str:
    """Where the first core finds it."""
    starts = allocation.get("startAddressCoreCorelet_")
    data = starts.get("data_") if isinstance(starts, dict) else None
    return str(next(iter(data.values()), ""))[:40] if isinstance(data, dict) else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _dict(said: Any, where: str) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise FileFaultError(f"`{where[:80]}` is no object")
    return said


def _list(said: Any, where: str) -> list[Any]:
    if not isinstance(said, list):
        raise FileFaultError(f"`{where[:80]}` is no list")
    return said
