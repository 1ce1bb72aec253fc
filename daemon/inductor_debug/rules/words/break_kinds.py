"""What each kind of graph break of torch's registry is to a user, by the registry's ids.

The ids stay when torch rewords a kind, and versions add some: what is not here is judged by what was called, and else
told in torch's words. Read in torch 2.11 to 2.13. A kind is in one of three tables: those with a cause, those whose
cause lies in what is called, and those that a user's code does not reach by itself, with the reason. Needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from inductor_debug_schema import BreakCause

_PAGES = "https://meta-pytorch.github.io/compile-graph-break-site/gb/"
_IDS: Mapping[BreakCause, str] = MappingProxyType(
    {
        BreakCause.LOGGING: "0291",
        BreakCause.BRANCH: "0034 0035 0170 0171 0360",
        BreakCause.VALUE: ("0033 0048 0070 0109 0124 0152 0153 0207 0213 0214 0215 0218 0281 0569 5565 6622 7596"),
        BreakCause.SIZE: "0036 0037 0038 0246",
        BreakCause.NUMPY: "0105 0106 0157 0158 0159 0185 0231 0232 0250 0290 0293 0294 0300",
        BreakCause.RANDOM: "0107 0297 0298 7650",
        BreakCause.INSPECTION: "0151 9625",
        BreakCause.METHOD: (
            "0006 0060 0110 0117 0146 0156 0162 0165 0166 0193 0230 0255 0261 0289 0296 0359 4198 6270"
        ),
        BreakCause.OBJECT: (
            "0005 0118 0136 0137 0150 0160 0175 0184 0194 0195 0203 0204 0217 0257 0272 0276 0283 0364 0365 0366 "
            "0367 0459 0682 0755 0781 0808 0811 0871 1220 1275 1584 1752 2483 2544 2852 2861 3006 3383 3775 3934 "
            "4240 4347 4393 4411 4749 4841 4880 5380 5904 6012 6025 6053 6215 6890 7286 7510 7786 7906 7968 8315 "
            "8435 9137 9198 9458 9522 9548 9561 9648"
        ),
        BreakCause.ATTRIBUTE: (
            "0004 0031 0032 0084 0113 0121 0161 0180 0188 0190 0202 0211 0252 0254 0256 0280 0287 0467 5458 5849 "
            "6999 7637 9277 9672"
        ),
        BreakCause.IDENTITY: "0027 0141 0176 0191 0222 4501 4608 5976 9316",
        BreakCause.ARGUMENT: (
            "0026 0055 0078 0081 0201 0224 0236 0238 0239 0243 0251 0288 0292 0299 0363 2520 3840 5195 6210 "
            "7489 9158 9840"
        ),
        BreakCause.DEFINITION: "0075 8977",
        BreakCause.PARAMETER: "0226 0227 0228 0235 0237 0244 0264",
        BreakCause.RECONSTRUCTION: "0092 0093 0197 0199 1297 1319 2404 4778 7502 9528",
        BreakCause.DISABLED: "0098 0099",
        BreakCause.REQUESTED: "0025 0030 0269 0275 0284 4297 4636",
        BreakCause.CONTEXT_MANAGER: "0066 0142 0209 0212 0221 0262 0263 0274 0279 0370 2533",
        BreakCause.GENERATOR: "0003 0024 0094 0120 0253 2549 8335",
        BreakCause.EXCEPTION: (
            "0000 0002 0010 0011 0012 0020 0021 0022 0028 0050 0051 0054 0057 0061 0062 0063 0069 0076 0077 0088 "
            "0089 0091 0095 0111 0112 0114 0115 0119 0133 0134 0135 0143 0154 0155 0174 0182 0183 0186 0196 0223 "
            "0248 0249 0258 0259 0260 0268 0273 0278 0285 0286 0354 0368 0369 4315 5173 7230 7312 8887"
        ),
        BreakCause.AUTOGRAD: (
            "0045 0046 0104 0108 0123 0125 0181 0206 0225 0371 0372 0373 0442 1042 1140 1381 1724 4927 5748 6663 "
            "7054 7299 7324 8985 9186"
        ),
        BreakCause.AUTOGRAD_FUNCTION: ("0019 0085 0138 0139 0140 0144 0145 0346 0347 0348 0352 2019 2464 4372 6297"),
        BreakCause.HOOK: "0013 0029 0083 0100 0101 7444",
        BreakCause.MUTATION: (
            "0056 0058 0072 0097 0126 0127 0128 0129 0131 0169 0189 0198 0220 0234 0240 0241 0242 0247 0271 0358 "
            "1177 3241 3697 4197 4271"
        ),
        BreakCause.CONTROL_FLOW: (
            "0017 0040 0041 0042 0067 0073 0074 0301 0302 0303 0304 0305 0306 0307 0308 0309 0310 0311 0312 0313 "
            "0314 0315 0316 0317 0318 0319 0320 0321 0322 0323 0324 0325 0326 0339 0340 0341 0342 0343 0344 0350 "
            "0351 0356 4413"
        ),
        BreakCause.TORCHSCRIPT: "0265 0266 0267 0357 2977 4695",
        BreakCause.KERNEL: "0216 0361 3326 4026 6735",
        BreakCause.DISTRIBUTED: "0053 0172 0210 0282 1750 2696 3343 9300 9860",
        BreakCause.SPECIAL_TENSOR: "0001 0015 0016 0044 0103 0130 0163 0164 0233 0245 0277 0374 1501",
        BreakCause.RECURRENT: "0014",
        BreakCause.OTHER: "0064 0087 0090 0132 0179 0355",
    }
)
CAUSES: Mapping[str, BreakCause] = MappingProxyType(
    {f"GB{number}": cause for cause, numbers in _IDS.items() for number in numbers.split()}
)
"""What a kind is to the user, by its id."""
_BY_CALL = "0007 0008 0009 0059 0116 0147 0148 0177 0178 0187 0192 0208 0270"
BY_CALL = frozenset(f"GB{number}" for number in _BY_CALL.split())
"""Kinds that say no more than that something cannot be called: their cause lies in what is."""
_UNREACHED = (
    (
        "told by what it comes from or leads to (a break in a loop, a function that is compiled too often)",
        "0039 0052 0065 0219 7000",
    ),
    (
        "of Dynamo's own bookkeeping, which no code reaches by itself",
        "0018 0023 0043 0047 0049 0071 0079 0080 0082 0086 0096 0122 0149 0167 0168 0200 0205 0229 0295 0353 "
        "2922 6604 9741",
    ),
    (
        "of operators that torch itself puts into graphs",
        "0327 0328 0329 0330 0331 0332 0333 0334 0335 0336 0337 0338 0345 0349 6017",
    ),
    ("of strict modes that torch.compile is not in", "0068 0102 0173 1380"),
    (
        "of opaque objects, which libraries register by names of torch's that are not public",
        "0362 1739 2078 7685 8656 8843 9567",
    ),
    ("of a shortcut for comprehensions, beside which there is the ordinary way", "2669 5696 6276 7425 9898"),
)
UNREACHED: Mapping[str, str] = MappingProxyType(
    {f"GB{number}": reason for reason, numbers in _UNREACHED for number in numbers.split()}
)
"""Why a user's code is not told of a kind, by its id. Where one comes up all the same, it is told in torch's words."""


def page_of(registry_id: str) -> str | None:
    """The address of torch's page on a kind of break."""
    return f"{_PAGES}{registry_id.lower()}.html" if registry_id else None
