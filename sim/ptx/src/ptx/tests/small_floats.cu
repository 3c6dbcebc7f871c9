// 16-bit floating point and matrix products as clang compiles them. small_floats.ptx is the output of clang++-19 -x cuda
// --cuda-device-only --cuda-gpu-arch=sm_90 -nocudainc -nocudalib -O3 -include sim/workloads/kernels/device.h -S.
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef __bf16 brain2 __attribute__((ext_vector_type(2)));

// out = max(a * b + c, a) where a < b, else -(a - c), in pairs.
extern "C" __global__ void halves(const half2 *a, const half2 *b, const half2 *c, half2 *out) {
    unsigned i = __nvvm_read_ptx_sreg_tid_x();
    half2 x = a[i], y = b[i], z = c[i];
    half2 sum = x * y + z;
    half2 difference = -(x - z);
    half2 result;
    result.x = x.x < y.x ? __builtin_fmaxf16(sum.x, x.x) : difference.x;
    result.y = x.y < y.y ? __builtin_fmaxf16(sum.y, x.y) : difference.y;
    out[i] = result;
}

// Sums of brain floats, and their conversion to and from other types.
extern "C" __global__ void brains(const __bf16 *a, const float *b, __bf16 *sum, float *back, int *whole) {
    unsigned i = __nvvm_read_ptx_sreg_tid_x();
    __bf16 x = a[i];
    __bf16 y = (__bf16)b[i];
    __bf16 s = x * y + x;
    sum[i] = s;
    back[i] = (float)s;
    whole[i] = (int)s;
}

// A product of matrices, loaded by ldmatrix and copied there by cp.async, as inline assembly has it.
extern "C" __global__ void product(const unsigned *a, const unsigned *b, float *out) {
    __attribute__((shared)) static unsigned tile[32 * 4];
    unsigned lane = __nvvm_read_ptx_sreg_tid_x();
    unsigned row = (unsigned)(unsigned long long)(__attribute__((address_space(3))) unsigned *)&tile[4 * lane];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(row), "l"(a + 4 * lane));
    asm volatile("cp.async.commit_group;\n");
    asm volatile("cp.async.wait_group 0;\n");
    unsigned r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"(row));
    float d0, d1, d2, d3;
    asm("{ mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10}; }"
        : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
        : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(b[2 * lane]), "r"(b[2 * lane + 1]), "f"(0.5f));
    out[4 * lane] = d0;
    out[4 * lane + 1] = d1;
    out[4 * lane + 2] = d2;
    out[4 * lane + 3] = d3;
}
