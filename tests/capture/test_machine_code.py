"""What texts of machine code say of a kernel, each in the format that the compiler's programs write."""

from __future__ import annotations

from inductor_debug.capture.gpu_kernels.machine_code import (
    ResourceUsage,
    accesses_of_amdgcn,
    accesses_of_ptx,
    matrix_instructions_of,
    usage_of_amdgcn,
    usage_of_cubin,
)
from inductor_debug_schema import MemoryAccess

PTX = """
\t// begin inline asm
\t@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
\t// end inline asm
\t@%p2 ld.global.L1::evict_last.L2::cache_hint.b32 { %r9 }, [ %rd2 + 0 ], %rd3;
\t@!%p3 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 64 ];
\tld.param.b64 \t%rd1, [kernel_param_0];
\tst.shared.v2.b32 \t[%r5], {%r6, %r7};
\tst.global.b16 [ %rd9 ], { %rs1 };
"""
AMDGCN = """
\tglobal_load_dwordx4 v[0:3], v4, s[0:1]
\tbuffer_load_dwordx2 v[0:1], v8, s[0:3], 0 offen
\tds_write_b128 v1, v[2:5]
\tglobal_store_short v0, v1, s[2:3]
\tv_mfma_f32_32x32x8_bf16_1k a[0:15], v[0:1], v[2:3], 0
; Occupancy: 5
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 8
    .sgpr_count:     19
    .vgpr_count:     96
"""


def test_registers_and_spills_of_a_cubin() -> None:
    printed = (
        "Resource usage:\n Common:\n  GLOBAL:0\n Function kernel:\n"
        "  REG:255 STACK:48 SHARED:1024 LOCAL:16 CONSTANT[0]:592 TEXTURE:0 SURFACE:0 SAMPLER:0\n"
    )
    assert usage_of_cubin(printed) == ResourceUsage(255, 64)
    assert usage_of_cubin("") == ResourceUsage()


def test_registers_and_spills_of_amds_metadata() -> None:
    assert usage_of_amdgcn(AMDGCN) == ResourceUsage(96, 8, 512, 5)
    assert usage_of_amdgcn("") == ResourceUsage()


def test_widths_of_loads_and_stores() -> None:
    assert accesses_of_ptx(PTX) == [
        MemoryAccess(False, "global", 128, 2),
        MemoryAccess(False, "global", 32, 1),
        MemoryAccess(True, "global", 16, 1),
        MemoryAccess(True, "shared", 64, 1),
    ]
    assert accesses_of_amdgcn(AMDGCN) == [
        MemoryAccess(False, "global", 128, 1),
        MemoryAccess(False, "global", 64, 1),
        MemoryAccess(True, "global", 16, 1),
        MemoryAccess(True, "shared", 128, 1),
    ]


def test_matrix_units() -> None:
    assert matrix_instructions_of(PTX) == []
    assert matrix_instructions_of(AMDGCN) == ["mfma"]
    assert matrix_instructions_of("\twgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%f1}\n") == ["wgmma"]
    assert matrix_instructions_of("\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}\n") == ["mma"]
    assert matrix_instructions_of("\t@%p1 tcgen05.mma.cta_group::1.kind::f16 [ %r1 ]\n") == ["tcgen05"]
