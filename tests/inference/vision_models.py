"""Models of torchvision small enough for a benchmark, and the true inputs of each.

A row is `file of torchvision.models | construction | inputs`. The tool sees the file itself, with a class at its end
that is built so.
"""

# ruff: noqa: E501
_ROWS = """
    resnet | ResNet(BasicBlock, [1, 1, 1, 1], num_classes=10) | f32[2, 3, 64, 64]
    densenet | DenseNet(8, (2, 2), 16, num_classes=10) | f32[2, 3, 64, 64]
    squeezenet | SqueezeNet("1_1", num_classes=10) | f32[2, 3, 64, 64]
    mobilenetv2 | MobileNetV2(num_classes=10, width_mult=0.25) | f32[2, 3, 64, 64]
    mobilenetv3 | MobileNetV3([InvertedResidualConfig(16, 3, 16, 16, True, "RE", 2, 1, 1.0), InvertedResidualConfig(16, 5, 64, 24, False, "HS", 2, 1, 1.0)], 64, num_classes=10) | f32[2, 3, 64, 64]
    shufflenetv2 | ShuffleNetV2([1, 1, 1], [8, 16, 32, 64, 128], num_classes=10) | f32[2, 3, 64, 64]
    mnasnet | MNASNet(0.25, num_classes=10) | f32[2, 3, 64, 64]
    googlenet | GoogLeNet(num_classes=10, aux_logits=False, init_weights=False) | f32[2, 3, 64, 64]
    efficientnet | EfficientNet([MBConvConfig(1, 3, 1, 16, 16, 1, 1.0, 1.0), MBConvConfig(4, 3, 2, 16, 24, 1, 1.0, 1.0)], 0.2, num_classes=10) | f32[2, 3, 64, 64]
    regnet | RegNet(BlockParams.from_init_params(depth=4, w_0=8, w_a=8.0, w_m=2.0, group_width=8), num_classes=10) | f32[2, 3, 64, 64]
    convnext | ConvNeXt([CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)], num_classes=10) | f32[2, 3, 64, 64]
    vision_transformer | VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10) | f32[2, 3, 32, 32]
    swin_transformer | SwinTransformer([4, 4], 16, [1, 1], [2, 4], [4, 4], num_classes=10) | f32[2, 3, 64, 64]
    video/resnet | VideoResNet(BasicBlock, [Conv3DSimple] * 4, [1, 1, 1, 1], BasicStem, num_classes=10) | f32[2, 3, 4, 32, 32]
"""


def models() -> dict[str, tuple[str, list[str]]]:
    """By the file of each: the source of a class at its end, and the true inputs."""
    found = {}
    for line in _ROWS.strip().splitlines():
        file, construction, inputs = (part.strip() for part in line.split(" | "))
        name, _, arguments = construction.partition("(")
        built = f"class Small({name}):\n    def __init__(self):\n        super().__init__({arguments}\n"
        found[file] = built, inputs.split("; ")
    return found
