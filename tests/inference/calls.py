"""How the corpus' classes are really built and called, where `truth.py`'s tensors alone do not say it.

A line is `Class(arguments of the constructor) | arguments of the call`, or `Class: expression` for one that a function
builds; the true tensors are `t[0]`, `t[1]` … in the call, and without a call they are all there is. Names are those of
the class' file. Inference never sees this table.
"""

CALLS = {
    "perceptrons": """
        Actor(11, 6, 1.0)
        MatrixFactorization(50, 70)
    """,
    "vision": """
        SuperResolution(3)
        SqueezeExcitation(64)
        DetectionHead() | t
        FeaturePyramid() | t
    """,
    "sequences": """
        LanguageLstm(100, 32, 64, 2) | t[0], (t[1], t[2])
        CellDecoder() | t[0], (t[1], t[2])
    """,
    "attention": """
        Gpt(GptConfig())
        MultiHeadAttention(64, 4)
        SwiGlu(48, 96)
    """,
    "structured": """
        MultiModal() | {"image": t[0], "input_ids": t[1]}
        TabularDict() | {"numeric": t[0], "category": t[1]}
        ListFusion() | t
        PairInput() | (t[0], t[1])
        ModeSwitch() | t[0], "full", True
        WithActivation() | t[0], torch.relu
        Repeated() | t[0], 3
        RmsNorm(64)
        LoraLinear(nn.Linear(64, 48))
    """,
    "projects": """
        OptionForecaster(argparse.Namespace(input_dim=9, hidden_dim=72, num_layers=2, horizon=24))
        DictMlp(SETTINGS["model"])
        FieldwiseModel([10, 20, 30], 8, [16, 12], 0.1)
        Backbone(ResidualStage, [1, 2])
        RecurrentLanguageModel("LSTM", 100, 24, 64, 2) | t[0], (t[1], t[2])
        WindowBlock(64, (64, 64), 4)
        Translator: make_translator()
        PyramidHead() | t
        SupervisedDecoder() | t
        TopDown() | t
        PackedEncoder() | t[0], t[1] + 1
        KeywordTable() | dense=t[0], category=t[1]
        TaskHeads() | t[0], "depth"
        Resizer() | t[0], (48, 40)
    """,
    "helpers": """
        ClickNet(16, np.array([100, 50, 20]), np.array([13, 48, 16]), np.array([64, 32, 1])) | t[0], t[1:4], t[4:]
        PaddedBackbone() | Padded(*t)
        TokenEncoder() | Tokens(*t)
        RayField() | Rays(*t, 0.1, 4.0)
        MeanPass() | SimpleNamespace(x=t[0], edge_index=t[1], batch=t[2])
        SetLoss: set_loss() | dict(pred_logits=t[0], pred_boxes=t[1]), [dict(labels=t[2], boxes=t[3])]
        SettingsDecoder(settings())
        SpaceNet(space())
        OptionTagger(argparse.Namespace(features=23, hidden=48, both_ways=True, cell="lstm", tags=5))
        Segmenter(body(), 21, norm("batch"))
        WordTagger(Words(["a", "dog", "ran"]), {"DET": 0, "NOUN": 1}, 20)
        NamedPyramid({"c3": 8, "c4": 12}) | {"c3": t[0], "c4": t[1]}
    """,
    "states": """
        ConvLstmCell(3, 16, (3, 3)) | t[0], (t[1], t[2])
        WorldModelCell() | *t[:3], (t[3], t[4])
        SparseTables() | t[0], t[1:4], t[4:]
    """,
}

ENCODER_AND_DECODER = "t[0], decoder_input_ids=t[1]"
"""How transformers' encoders with decoders are called."""


def calls(file: str) -> dict[str, tuple[str, str]]:
    """By class: the expression that builds it, and the arguments of its call (`*t` where nothing else is said)."""
    found: dict[str, tuple[str, str]] = {}
    for line in CALLS.get(file, "").strip().splitlines():
        build, _, call = (part.strip() for part in line.partition(" | "))
        name, colon, expression = build.partition(": ")
        if colon and name.isidentifier():
            build = expression
        found[name.partition("(")[0]] = build, call or "*t"
    return found
