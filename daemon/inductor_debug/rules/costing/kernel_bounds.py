"""Seconds that each kernel of a compiled graph takes at least, all of its calls together.

A kernel is no faster than the bytes that its code moves at the memory's full bandwidth, nor than the products that it
computes at the full rate of their dtype, nor than its calls can be launched. Unlike the bounds of expressions
(`bounds`), which suppose perfect fusion, these are about the kernels that there are: what one writes and the next one
reads counts for both, although a cache may still hold it. Never a prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inductor_debug_schema import GraphDocument, GraphNode, Roof

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.costing.bounds import knows_speed
from inductor_debug.rules.recording.statistics import KernelCost

_LIBRARY = "extern"
"""The language of kernels that are called, and not generated."""


def bounded_kernels(kernels: Sequence[KernelCost], document: GraphDocument, profile: Profile) -> list[KernelCost]:
    """The kernels with their operations and, where the profile says how fast the accelerator is, with their bounds.

    Args:
        kernels: what they move, and how often they are called.
        document: their graphs, whose nodes know their operations and the bound of each product.
        profile: the accelerator.
    """
    products = _products(document)
    found = []
    for kernel in kernels:
        own = products.get((kernel.graph, kernel.name), [])
        counted = replace(kernel, operations=sum(node.flops or 0 for node in own))
        if own:  # views of what it reads are its nodes, too
            counted.place = max(own, key=lambda node: (node.seconds or 0.0, node.flops or 0)).place or kernel.place
        seconds = sum(node.seconds or 0.0 for node in own)
        found.append(_bounded(counted, seconds, profile) if knows_speed(profile) else counted)
    return found


def _products(document: GraphDocument) -> dict[tuple[str, str], list[GraphNode]]:
    """By graph and name the kernels that compute products, with the nodes of these, each at one kernel.

    A kernel that adds the bias of a convolution, or goes on with its result, has its node, too: it is a library's that
    computes it wherever one has the node, and of several the first.
    """
    nodes = {(graph.name, node.name): node for graph in document.graphs for node in graph.nodes if node.flops}
    found: dict[tuple[str, str], list[GraphNode]] = {}
    for kernel in sorted(document.kernels, key=lambda kernel: kernel.language != _LIBRARY):
        for name in kernel.nodes:
            node = nodes.pop((kernel.graph, name), None)
            if node is not None:
                found.setdefault((kernel.graph, kernel.name), []).append(node)
    return found


def _bounded(kernel: KernelCost, computing: float, profile: Profile) -> KernelCost:
    times = {Roof.COMPUTE: computing}
    bandwidth = profile.speed.bytes_per_second if profile.speed is not None else None
    if bandwidth is not None and kernel.bytes_read is not None and kernel.bytes_written is not None:
        times[Roof.MEMORY] = (kernel.bytes_read + kernel.bytes_written) / bandwidth
    if profile.gpu is not None and profile.gpu.launch_seconds is not None:
        times[Roof.LAUNCH] = kernel.calls * profile.gpu.launch_seconds
    roof = max(times, key=lambda name: times[name])
    return replace(kernel, seconds=times[roof], limited_by=roof if times[roof] else None)
