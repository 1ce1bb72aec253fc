"""Architectures of transformers with configurations small enough for a benchmark, and the true inputs of each.

A row is `Architecture | configuration | inputs`; the class is `ArchitectureModel` and its configuration
`ArchitectureConfig` unless they are written out as `Class/Config`. Inference sees only the file.
"""

# ruff: noqa: E501
from __future__ import annotations

_TEXT = "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=120"
_VISION = (
    "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8"
)
_AUDIO = (
    _TEXT
    + ", conv_dim=(16, 16), conv_kernel=(10, 3), conv_stride=(5, 2), num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2"
)
_SEQ2SEQ = "d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=120"
_T5 = "d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, vocab_size=120"
_DECODER = _TEXT + ", num_key_value_heads=2"
_IDS, _BOTH, _IMAGE, _WAVE = "i64[2, 16]", "i64[2, 16]; i64[2, 16]", "f32[2, 3, 32, 32]", "f32[2, 4800]"

_ROWS: dict[tuple[str, str], str] = {
    (
        _TEXT,
        _IDS,
    ): "Bert Roberta Electra XLMRoberta Camembert MPNet Ernie LayoutLM RoFormer MegatronBert MobileBert/128 "
    "Data2VecText ConvBert Nystromformer YosoModel/YosoConfig IBert RemBert/1 BertForMaskedLM/BertConfig "
    "BertForSequenceClassification/BertConfig RobertaForTokenClassification/RobertaConfig",
    (_DECODER, _IDS): "Llama Mistral Qwen2 Gemma/g Phi StableLm Olmo Olmo2 Starcoder2 Cohere Granite Persimmon "
    "Helium/g Qwen3/g Gemma2/g LlamaForCausalLM/LlamaConfig MistralForCausalLM/MistralConfig Arcee",
    (_VISION, _IMAGE): "ViT DeiT Dinov2 Beit Dinov2WithRegisters ViTMAE ViTMSN ViTForImageClassification/ViTConfig "
    "Data2VecVision",
    (_AUDIO, _WAVE): "Wav2Vec2 Hubert WavLM Data2VecAudio UniSpeech SEW/s",
    (_SEQ2SEQ, _BOTH): "Bart Pegasus Mbart/MBartModel/MBartConfig M2M100 Blenderbot BlenderbotSmall PLBart",
    (_T5, _BOTH): "T5 MT5 UMT5 SwitchTransformers LongT5",
}
_SINGLES = """
    GPT2Model | GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=120) | i64[2, 16]
    GPTNeoModel | GPTNeoConfig(hidden_size=32, num_layers=2, attention_types=[[["global", "local"], 1]], num_heads=4, vocab_size=120) | i64[2, 16]
    GPTNeoXModel | GPTNeoXConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=120) | i64[2, 16]
    GPTJModel | GPTJConfig(n_embd=32, n_layer=2, n_head=4, rotary_dim=8, vocab_size=120) | i64[2, 16]
    BloomModel | BloomConfig(hidden_size=32, n_layer=2, n_head=4, vocab_size=120) | i64[2, 16]
    OPTModel | OPTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, vocab_size=120, word_embed_proj_dim=32) | i64[2, 16]
    DistilBertModel | DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=120) | i64[2, 16]
    AlbertModel | AlbertConfig(embedding_size=16, hidden_size=32, num_attention_heads=4, intermediate_size=64, vocab_size=120) | i64[2, 16]
    MambaModel | MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=120) | i64[2, 16]
    FalconModel | FalconConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, vocab_size=120) | i64[2, 16]
    ResNetModel | ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1]) | f32[2, 3, 64, 64]
    ConvNextModel | ConvNextConfig(num_stages=2, hidden_sizes=[16, 32], depths=[1, 1]) | f32[2, 3, 64, 64]
    SwinModel | SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=4) | f32[2, 3, 32, 32]
    SegformerModel | SegformerConfig(hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1]) | f32[2, 3, 64, 64]
    CLIPVisionModel | CLIPVisionConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8) | f32[2, 3, 32, 32]
    CLIPTextModel | CLIPTextConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=120) | i64[2, 16]
    WhisperModel | WhisperConfig(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=120, num_mel_bins=80, max_source_positions=100, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1) | f32[2, 80, 200]; i64[2, 16]
    CLIPModel | CLIPConfig(text_config=dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, vocab_size=120), vision_config=dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8)) | i64[2, 16]; f32[2, 3, 32, 32]
    ASTModel | ASTConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, max_length=128, num_mel_bins=32) | f32[2, 128, 32]
    VideoMAEModel | VideoMAEConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, image_size=32, num_frames=4) | f32[2, 4, 3, 32, 32]
"""
_SPECIAL = {"128": "", "1": "", "g": ", head_dim=8", "s": ", squeeze_factor=1"}


def architectures() -> dict[str, tuple[str, list[str]]]:
    """By a name for each: the source of a file with one class, and the true inputs."""
    return {model: (_source(model, config), inputs) for model, (config, inputs) in configured().items()}


def configured() -> dict[str, tuple[str, list[str]]]:
    """By the class: the expression that makes its configuration, and the true inputs."""
    found: dict[str, tuple[str, list[str]]] = {}
    for (arguments, inputs), names in _ROWS.items():
        for name in names.split():
            parts = name.split("/")
            extra = _SPECIAL.get(parts[1], "") if len(parts) == 2 else ""
            written = (
                parts if len(parts) == 3 else [name, *parts] if len(parts) == 2 and parts[1] not in _SPECIAL else None
            )
            model, config = written[1:] if written else (f"{parts[0]}Model", f"{parts[0]}Config")
            found[model] = (f"{config}({arguments}{extra})", inputs.split("; "))
    for line in _SINGLES.strip().splitlines():
        model, config, inputs = (part.strip() for part in line.split(" | "))
        found[model] = (config, inputs.split("; "))
    return found


def _source(model: str, config: str) -> str:
    return (
        f"from transformers import {config.partition('(')[0]}, {model}\n\n\n"
        f"class Small({model}):\n    def __init__(self):\n        super().__init__({config})\n"
    )
