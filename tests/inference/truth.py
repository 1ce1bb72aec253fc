"""The true inputs of the corpus: what whoever wrote a class would call it with. Inference never sees this table.

One line for each class: `argument dtype[sizes]`, separated by semicolons; `_` for arguments that are no tensors.
"""

TRUTH = {
    "perceptrons": """
        Perceptron: f32[2, 96]
        DigitClassifier: f32[2, 1, 28, 28]
        ResidualMlp: f32[2, 48]
        DenoisingAutoencoder: f32[2, 120]
        VariationalAutoencoder: f32[2, 784]
        Generator: f32[2, 100]
        ConditionalGenerator: f32[2, 64]; i64[2]
        Actor: f32[2, 11]
        Critic: f32[2, 17]; f32[2, 6]
        DuelingNetwork: f32[2, 8]
        MatrixFactorization: i64[2]; i64[2]
        WideAndDeep: i64[2, 6]; f32[2, 13]
        FourierField: f32[40, 3]
        HeatSolver: f32[2, 1]; f32[2, 1]
        MixtureOfExperts: f32[2, 32]
        CouplingLayer: f32[2, 10]
        LazyRegressor: f32[2, 12]
        SiameseNetwork: f32[2, 50]; f32[2, 50]
        Bottleneck: f32[2, 24]; f32[2, 40]
    """,
    "vision": """
        LeNet: f32[2, 1, 28, 28]
        CifarNet: f32[2, 3, 32, 32]
        AlexNet: f32[2, 3, 224, 224]
        ResNet: f32[2, 3, 64, 64]
        UNet: f32[2, 1, 64, 64]
        TimeUNet: f32[2, 3, 32, 32]; i64[2]
        ConvAutoencoder: f32[2, 3, 64, 64]
        DcganGenerator: f32[2, 100, 1, 1]
        PatchDiscriminator: f32[2, 3, 64, 64]; f32[2, 3, 64, 64]
        Discriminator: f32[2, 1, 28, 28]
        SuperResolution: f32[2, 1, 64, 64]
        PixelUp: f32[2, 12, 32, 32]
        SqueezeExcitation: f32[2, 64, 16, 16]
        SpatialAttention: f32[2, 64, 16, 16]
        KeypointNet: f32[2, 3, 64, 64]
        DetectionHead: f32[2, 16, 32, 32]; f32[2, 32, 16, 16]; f32[2, 64, 8, 8]
        FeaturePyramid: f32[2, 32, 32, 32]; f32[2, 64, 16, 16]
        OpticalFlow: f32[2, 3, 64, 64]; f32[2, 3, 64, 64]
        SpatialTransformer: f32[2, 1, 28, 28]
        VideoClassifier: f32[2, 3, 8, 32, 32]
        VolumeSegmenter: f32[2, 1, 16, 16, 16]
        WaveNet: f32[2, 1, 1000]
        SpectrogramTagger: f32[2, 64, 100]
        EegNet: f32[2, 1, 22, 128]
        StyleTransfer: f32[2, 8, 32, 32]; f32[2, 8, 32, 32]
    """,
    "sequences": """
        LanguageLstm: i64[16, 2]; f32[2, 2, 64]; f32[2, 2, 64]
        SentimentGru: i64[2, 16]
        Forecaster: f32[2, 16, 7]
        StatefulRnn: f32[2, 16, 10]; f32[2, 2, 20]
        CellDecoder: f32[2, 24]; f32[2, 48]; f32[2, 48]
        GruStep: f32[2, 16]; f32[2, 40]
        AdditiveAttention: f32[2, 64]; f32[2, 16, 64]
        Seq2Seq: i64[2, 16]; i64[2, 16]
        SelectiveScan: f32[2, 16, 32]
        DiagonalStateSpace: f32[2, 16, 100]
        RwkvMix: f32[2, 16, 48]
        Tcn: f32[2, 9, 100]
        TextCnn: i64[2, 16]
        BagOfWords: i64[2, 16]
        DeepSpeech: f32[2, 1, 80, 100]
        NBeatsBlock: f32[2, 60]
        Patching: f32[2, 96, 7]
        PositionalEncoding: f32[2, 16, 64]
        SpeakerEncoder: f32[2, 100, 40]
    """,
    "attention": """
        Gpt: i64[2, 16]
        VisionTransformer: f32[2, 3, 64, 64]
        MultiHeadAttention: f32[2, 16, 64]; f32[2, 16, 64]; f32[2, 16, 64]
        TranslationTransformer: i64[2, 16]; i64[2, 16]
        EncoderClassifier: i64[2, 16]; i64[2, 16]
        CrossAttention: f32[2, 16, 40]; f32[2, 24, 56]
        RotaryAttention: f32[2, 16, 64]; f32[16, 8]; f32[16, 8]
        SwiGlu: f32[2, 16, 48]
        WindowAttention: f32[2, 64, 64, 32]
        MlpMixer: f32[2, 64, 32]
        DiffusionTransformer: f32[2, 4, 16, 16]; i64[2]; i64[2]
        Perceiver: f32[2, 16, 24]
        TwoTower: f32[2, 3, 64, 64]; i64[2, 16]
        DetectionTransformer: f32[2, 3, 64, 64]
        RelativeBias: f32[2, 4, 16, 32]; f32[2, 4, 16, 32]; f32[2, 4, 16, 32]
    """,
    "structured": """
        Gcn: f32[40, 34]; f32[40, 40]
        GraphAttention: f32[40, 20]; f32[40, 40]
        BatchedGraph: f32[2, 40, 12]; f32[2, 40, 40]
        EdgeConvolution: f32[40, 16]; i64[2, 100]
        PointNet: f32[2, 3, 100]
        PointMlp: f32[2, 100, 3]
        DeepSets: f32[2, 16, 9]
        MultiModal: f32[2, 3, 32, 32]; i64[2, 16]
        TabularDict: f32[2, 8]; i64[2]
        ListFusion: f32[2, 10]; f32[2, 20]; f32[2, 30]
        PairInput: f32[2, 14]; f32[2, 22]
        FocalLoss: f32[2, 5]; i64[2]
        DiceLoss: f32[2, 1, 32, 32]; f32[2, 1, 32, 32]
        TripletLoss: f32[2, 32]; f32[2, 32]; f32[2, 32]
        ContrastiveLoss: f32[2, 32]; f32[2, 32]
        DistillationLoss: f32[2, 5]; f32[2, 5]; i64[2]
        VaeLoss: f32[2, 784]; f32[2, 784]; f32[2, 20]; f32[2, 20]
        LabelSmoothing: f32[2, 10]; i64[2]
        ModeSwitch: f32[2, 18]; _; _
        WithActivation: f32[2, 26]; _
        Repeated: f32[2, 15]; _
        Variadic: f32[2, 20]; f32[2, 20]; f32[2, 20]
        AnnotatedAttention: f32[2, 16, 24]; b8[2, 16]
        RmsNorm: f32[2, 16, 64]
        VectorQuantizer: f32[2, 16, 8, 8]
        LoraLinear: f32[2, 64]
        MovedToDevice: f32[2, 33]
        GradientPenalty: f32[2, 16]; f32[2, 16]
    """,
    "projects": """
        OptionForecaster: f32[2, 16, 9]
        DictMlp: f32[2, 17]
        FieldwiseModel: i64[2, 3]
        Backbone: f32[2, 3, 64, 64]
        RecurrentLanguageModel: i64[16, 2]; f32[2, 2, 64]; f32[2, 2, 64]
        WindowBlock: f32[2, 4096, 64]
        Translator: i64[2, 16]; b8[2, 1, 16]
        PyramidHead: f32[2, 16, 32, 32]; f32[2, 32, 16, 16]; f32[2, 64, 8, 8]
        SupervisedDecoder: f32[2, 32, 16, 16]; f32[2, 64, 8, 8]
        TopDown: f32[2, 16, 32, 32]; f32[2, 32, 16, 16]; f32[2, 64, 8, 8]
        PackedEncoder: i64[2, 16]; i64[2]
        KeywordTable: f32[2, 12]; i64[2]
        TaskHeads: f32[2, 24, 16, 16]; _
        Resizer: f32[2, 3, 64, 64]; _
        RadianceField: f32[40, 8]
        MultiboxLoss: f32[2, 100, 4]; f32[2, 100, 21]; f32[2, 100, 4]; i64[2, 100]
        LazyClassifier: f32[2, 3, 64, 64]
    """,
    "helpers": """
        ClickNet: f32[2, 13]; i64[2]; i64[2]; i64[2]; i64[16]; i64[16]; i64[16]
        PaddedBackbone: f32[2, 3, 64, 64]; b8[2, 64, 64]
        TokenEncoder: i64[2, 16]; f32[2, 10]
        RayField: f32[40, 3]; f32[40, 3]; _; _
        MeanPass: f32[40, 11]; i64[2, 100]; i64[40]
        SetLoss: f32[2, 100, 91]; f32[2, 100, 4]; i64[3]; f32[3, 4]; i64[3]; f32[3, 4]
        SettingsDecoder: i64[2, 16]
        SpaceNet: f32[2, 5, 100]
        OptionTagger: f32[2, 16, 23]
        Segmenter: f32[2, 3, 64, 64]
        WordTagger: i64[2, 16]
        NamedPyramid: f32[2, 8, 32, 32]; f32[2, 12, 16, 16]
        SpeechCtc: f32[2, 100, 80]
    """,
    "states": """
        ConvLstmCell: f32[2, 3, 16, 16]; f32[2, 16, 16, 16]; f32[2, 16, 16, 16]
        WorldModelCell: f32[2, 64]; f32[2, 6]; f32[2, 1]; f32[2, 32]; f32[2, 8]
        KalmanFilter: f32[2, 4, 1]; f32[2, 4, 4]; f32[2, 2, 1]
        CenterPull: f32[2, 24]; i64[2]
        PreciseIntegrator: f64[2, 12]
        SparseTables: f32[2, 13]; i64[30]; i64[20]; i64[10]; i64[2]; i64[2]; i64[2]
    """,
}


def truth(file: str) -> dict[str, list[str]]:
    """The inputs of each class of a corpus file, written as in signatures."""
    rows = [line.strip().partition(": ") for line in TRUTH[file].strip().splitlines()]
    return {name: [item.strip() for item in inputs.split(";")] for name, _, inputs in rows}
