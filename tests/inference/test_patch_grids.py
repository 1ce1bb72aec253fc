"""Encoders of images that come as rows of patches are given a grid, and as many rows as it says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from inductor_debug.capture.inference.guessing.patch_grids import grid_axes, patched_inputs
from inductor_debug.capture.inference.specs.rendering import inputs_of
from inductor_debug.capture.inference.specs.specs import Guess, SpecArgument, make_call

pytestmark = pytest.mark.torch

CONFIG = SimpleNamespace(patch_size=14, temporal_patch_size=2, spatial_merge_size=2)


def test_names_tell_grids_from_sizes_of_other_things() -> None:
    names = ["grid_thw", "image_grid_thw", "grid_hws", "spatial_shapes", "target_sizes", "image_sizes", "hidden_sizes"]
    assert [grid_axes(name) for name in names] == [3, 3, 2, 2, 2, 2, 0]


def given(names: list[str]) -> tuple[torch.Tensor, ...]:
    """The first tensors that arguments of these names are given."""
    found = patched_inputs(names, CONFIG, channels=3)
    return make_call(Guess(tuple(SpecArgument(name, found[name][0]) for name in names)))[0]


def test_a_packed_image_has_as_many_rows_as_its_grid_says() -> None:
    rows, grid = given(["hidden_states", "grid_thw"])
    assert rows.shape == (int(grid.prod(-1).sum()), 3 * 2 * 14 * 14)


def test_a_batch_of_patches_has_a_mask_for_each() -> None:
    pixels, mask, shapes = given(["pixel_values", "pixel_attention_mask", "spatial_shapes"])
    assert pixels.shape[:2] == mask.shape == (1, int(shapes.prod(-1)))


def test_one_image_has_one_frame_and_its_patches_are_merged_evenly() -> None:
    grid, merged = given(["grid_thw", "merge_sizes"])
    assert grid.tolist() == [[1, 4, 4]]
    assert merged.tolist() == [2]


def test_patches_whose_places_are_given_one_by_one_are_as_many_as_those() -> None:
    pixels, places = given(["pixel_values", "pixel_position_ids"])
    assert pixels.shape == (1, places.shape[1], 3 * 2 * 14 * 14)
    assert places.shape == (1, 16, 2)


def test_a_grid_is_written_down_as_it_is_made() -> None:
    spec = patched_inputs(["grid_thw"], CONFIG, channels=3)["grid_thw"][0]
    guess = Guess((SpecArgument("grid_thw", spec),))
    assert eval(inputs_of(guess), {"torch": torch})[0].equal(make_call(guess)[0][0])


def test_a_model_without_a_grid_takes_no_patches() -> None:
    assert patched_inputs(["pixel_values"], CONFIG, channels=3) == {}
    assert patched_inputs(["pixel_values", "grid_thw"], SimpleNamespace(), channels=3) == {}
