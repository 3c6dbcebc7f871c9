// The CUDA device language over clang's builtins and PTX, for kernels that include no header of the host: no CUDA toolkit is
// needed. `selvedge new my.toml --cuda kernel.cu` includes it in front of the kernels.
//
// Functions that PTX has as approximations (__sinf, __expf and their kin) are those; sinf, expf, logf and powf are made of them.
// Double precision has what PTX has: no exp, log, pow, sin or cos.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define SELVEDGE_DEVICE static __device__ __forceinline__

typedef __SIZE_TYPE__ size_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef __INT64_TYPE__ int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;
#ifndef NULL
#define NULL 0
#endif
#ifndef INT_MAX
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

// Vector types. Those of two and four elements are aligned to their size, up to 16 bytes.
#define SELVEDGE_VECTORS(name, type, pair, four)                                                                \
    struct name##1 { type x; };                                                                                 \
    struct __align__(pair) name##2 { type x, y; };                                                              \
    struct name##3 { type x, y, z; };                                                                           \
    struct __align__(four) name##4 { type x, y, z, w; };                                                        \
    static __device__ __host__ __forceinline__ name##1 make_##name##1(type x) { return {x}; }                   \
    static __device__ __host__ __forceinline__ name##2 make_##name##2(type x, type y) { return {x, y}; }        \
    static __device__ __host__ __forceinline__ name##3 make_##name##3(type x, type y, type z)                   \
    { return {x, y, z}; }                                                                                       \
    static __device__ __host__ __forceinline__ name##4 make_##name##4(type x, type y, type z, type w)           \
    { return {x, y, z, w}; }

SELVEDGE_VECTORS(char, signed char, 2, 4)
SELVEDGE_VECTORS(uchar, unsigned char, 2, 4)
SELVEDGE_VECTORS(short, short, 4, 8)
SELVEDGE_VECTORS(ushort, unsigned short, 4, 8)
SELVEDGE_VECTORS(int, int, 8, 16)
SELVEDGE_VECTORS(uint, unsigned int, 8, 16)
SELVEDGE_VECTORS(long, long, 16, 16)
SELVEDGE_VECTORS(ulong, unsigned long, 16, 16)
SELVEDGE_VECTORS(longlong, long long, 16, 16)
SELVEDGE_VECTORS(ulonglong, unsigned long long, 16, 16)
SELVEDGE_VECTORS(float, float, 8, 16)
SELVEDGE_VECTORS(double, double, 16, 16)
#undef SELVEDGE_VECTORS

struct dim3 {
    unsigned x, y, z;
    __device__ __host__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    __device__ __host__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __device__ __host__ constexpr operator uint3() const { return {x, y, z}; }
};

// Built-in variables: reading a member calls the builtin that reads the special register.
#define SELVEDGE_INDEX(type, reg)                                                                               \
    struct type {                                                                                               \
        __declspec(property(get = read_x)) unsigned x;                                                          \
        __declspec(property(get = read_y)) unsigned y;                                                          \
        __declspec(property(get = read_z)) unsigned z;                                                          \
        __device__ static unsigned read_x() { return __nvvm_read_ptx_sreg_##reg##_x(); }                        \
        __device__ static unsigned read_y() { return __nvvm_read_ptx_sreg_##reg##_y(); }                        \
        __device__ static unsigned read_z() { return __nvvm_read_ptx_sreg_##reg##_z(); }                        \
        __device__ operator uint3() const { return {read_x(), read_y(), read_z()}; }                            \
        __device__ operator dim3() const { return dim3(read_x(), read_y(), read_z()); }                         \
    }

SELVEDGE_INDEX(SelvedgeThreadIndex, tid);
SELVEDGE_INDEX(SelvedgeBlockIndex, ctaid);
SELVEDGE_INDEX(SelvedgeBlockShape, ntid);
SELVEDGE_INDEX(SelvedgeGridShape, nctaid);
#undef SELVEDGE_INDEX

// Never defined: only the members' getters are used, and they need no object.
extern const __device__ SelvedgeThreadIndex threadIdx;
extern const __device__ SelvedgeBlockIndex blockIdx;
extern const __device__ SelvedgeBlockShape blockDim;
extern const __device__ SelvedgeGridShape gridDim;
static const int warpSize = 32;

// Barriers and fences; __syncthreads() is one of clang's builtins.
SELVEDGE_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
SELVEDGE_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
SELVEDGE_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
SELVEDGE_DEVICE void __syncwarp(unsigned mask = 0xffffffffu)
{
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
SELVEDGE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
SELVEDGE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
SELVEDGE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

// Atomics.
SELVEDGE_DEVICE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
SELVEDGE_DEVICE unsigned atomicAdd(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, v); }
SELVEDGE_DEVICE unsigned long long atomicAdd(unsigned long long *p, unsigned long long v)
{
    return __nvvm_atom_add_gen_ll((long long *)p, v);
}
SELVEDGE_DEVICE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
SELVEDGE_DEVICE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
SELVEDGE_DEVICE int atomicSub(int *p, int v) { return __nvvm_atom_add_gen_i(p, -v); }
SELVEDGE_DEVICE unsigned atomicSub(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, -v); }
SELVEDGE_DEVICE int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
SELVEDGE_DEVICE unsigned atomicExch(unsigned *p, unsigned v) { return __nvvm_atom_xchg_gen_i((int *)p, v); }
SELVEDGE_DEVICE unsigned long long atomicExch(unsigned long long *p, unsigned long long v)
{
    return __nvvm_atom_xchg_gen_ll((long long *)p, v);
}
SELVEDGE_DEVICE float atomicExch(float *p, float v)
{
    return __builtin_bit_cast(float, __nvvm_atom_xchg_gen_i((int *)p, __builtin_bit_cast(int, v)));
}
SELVEDGE_DEVICE int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
SELVEDGE_DEVICE unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
SELVEDGE_DEVICE unsigned long long atomicMin(unsigned long long *p, unsigned long long v)
{
    return __nvvm_atom_min_gen_ull(p, v);
}
SELVEDGE_DEVICE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
SELVEDGE_DEVICE unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
SELVEDGE_DEVICE unsigned long long atomicMax(unsigned long long *p, unsigned long long v)
{
    return __nvvm_atom_max_gen_ull(p, v);
}
SELVEDGE_DEVICE unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
SELVEDGE_DEVICE unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }
SELVEDGE_DEVICE int atomicCAS(int *p, int old, int v) { return __nvvm_atom_cas_gen_i(p, old, v); }
SELVEDGE_DEVICE unsigned atomicCAS(unsigned *p, unsigned old, unsigned v)
{
    return __nvvm_atom_cas_gen_i((int *)p, old, v);
}
SELVEDGE_DEVICE unsigned long long atomicCAS(unsigned long long *p, unsigned long long old, unsigned long long v)
{
    return __nvvm_atom_cas_gen_ll((long long *)p, old, v);
}
#define SELVEDGE_BITWISE(name, op)                                                                              \
    SELVEDGE_DEVICE int name(int *p, int v) { return __nvvm_atom_##op##_gen_i(p, v); }                          \
    SELVEDGE_DEVICE unsigned name(unsigned *p, unsigned v) { return __nvvm_atom_##op##_gen_i((int *)p, v); }    \
    SELVEDGE_DEVICE unsigned long long name(unsigned long long *p, unsigned long long v)                        \
    { return __nvvm_atom_##op##_gen_ll((long long *)p, v); }
SELVEDGE_BITWISE(atomicAnd, and)
SELVEDGE_BITWISE(atomicOr, or)
SELVEDGE_BITWISE(atomicXor, xor)
#undef SELVEDGE_BITWISE

// Shuffles of 32 and 64 bits, and the old ones without a mask.
#define SELVEDGE_SHUFFLE(name, mode, bound)                                                                     \
    SELVEDGE_DEVICE unsigned name##_sync(unsigned mask, unsigned v, unsigned lane, int width = 32)              \
    {                                                                                                           \
        unsigned out, clamp = ((32u - width) << 8) | bound;                                                     \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;"                                               \
                     : "=r"(out) : "r"(v), "r"(lane), "r"(clamp), "r"(mask));                                   \
        return out;                                                                                             \
    }                                                                                                           \
    SELVEDGE_DEVICE int name##_sync(unsigned mask, int v, unsigned lane, int width = 32)                        \
    { return (int)name##_sync(mask, (unsigned)v, lane, width); }                                                \
    SELVEDGE_DEVICE float name##_sync(unsigned mask, float v, unsigned lane, int width = 32)                    \
    { return __builtin_bit_cast(float, name##_sync(mask, __builtin_bit_cast(unsigned, v), lane, width)); }      \
    SELVEDGE_DEVICE unsigned long long name##_sync(unsigned mask, unsigned long long v, unsigned lane, int width = 32) \
    {                                                                                                           \
        unsigned long long high = name##_sync(mask, (unsigned)(v >> 32), lane, width);                          \
        return high << 32 | name##_sync(mask, (unsigned)v, lane, width);                                        \
    }                                                                                                           \
    SELVEDGE_DEVICE long long name##_sync(unsigned mask, long long v, unsigned lane, int width = 32)            \
    { return (long long)name##_sync(mask, (unsigned long long)v, lane, width); }                                \
    SELVEDGE_DEVICE double name##_sync(unsigned mask, double v, unsigned lane, int width = 32)                  \
    { return __builtin_bit_cast(double, name##_sync(mask, __builtin_bit_cast(unsigned long long, v), lane, width)); } \
    template <class T> SELVEDGE_DEVICE T name(T v, unsigned lane, int width = 32)                               \
    { return name##_sync(0xffffffffu, v, lane, width); }
SELVEDGE_SHUFFLE(__shfl, "idx", 31)
SELVEDGE_SHUFFLE(__shfl_up, "up", 0)
SELVEDGE_SHUFFLE(__shfl_down, "down", 31)
SELVEDGE_SHUFFLE(__shfl_xor, "bfly", 31)
#undef SELVEDGE_SHUFFLE

// Votes.
SELVEDGE_DEVICE unsigned __ballot_sync(unsigned mask, int predicate)
{
    unsigned out;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(out) : "r"(predicate), "r"(mask));
    return out;
}
SELVEDGE_DEVICE int __all_sync(unsigned mask, int predicate)
{
    int out;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.s32 %0, 1, 0, q; }"
                 : "=r"(out) : "r"(predicate), "r"(mask));
    return out;
}
SELVEDGE_DEVICE int __any_sync(unsigned mask, int predicate)
{
    int out;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.any.pred q, p, %2; selp.s32 %0, 1, 0, q; }"
                 : "=r"(out) : "r"(predicate), "r"(mask));
    return out;
}
SELVEDGE_DEVICE unsigned __ballot(int predicate) { return __ballot_sync(0xffffffffu, predicate); }
SELVEDGE_DEVICE int __all(int predicate) { return __all_sync(0xffffffffu, predicate); }
SELVEDGE_DEVICE int __any(int predicate) { return __any_sync(0xffffffffu, predicate); }
SELVEDGE_DEVICE unsigned __activemask()
{
    unsigned out;
    asm volatile("activemask.b32 %0;" : "=r"(out));
    return out;
}

// Loads by way of the read-only cache.
SELVEDGE_DEVICE int __ldg(const int *p) { return __nvvm_ldg_i(p); }
SELVEDGE_DEVICE unsigned __ldg(const unsigned *p) { return __nvvm_ldg_ui(p); }
SELVEDGE_DEVICE long long __ldg(const long long *p) { return __nvvm_ldg_ll(p); }
SELVEDGE_DEVICE unsigned long long __ldg(const unsigned long long *p) { return __nvvm_ldg_ull(p); }
SELVEDGE_DEVICE signed char __ldg(const signed char *p) { return __nvvm_ldg_c((const char *)p); }
SELVEDGE_DEVICE unsigned char __ldg(const unsigned char *p) { return __nvvm_ldg_uc(p); }
SELVEDGE_DEVICE short __ldg(const short *p) { return __nvvm_ldg_s(p); }
SELVEDGE_DEVICE unsigned short __ldg(const unsigned short *p) { return __nvvm_ldg_us(p); }
SELVEDGE_DEVICE float __ldg(const float *p) { return __nvvm_ldg_f(p); }
SELVEDGE_DEVICE double __ldg(const double *p) { return __nvvm_ldg_d(p); }
SELVEDGE_DEVICE float2 __ldg(const float2 *p)
{
    float2 v;
    asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p));
    return v;
}
SELVEDGE_DEVICE float4 __ldg(const float4 *p)
{
    float4 v;
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}
SELVEDGE_DEVICE int4 __ldg(const int4 *p)
{
    int4 v;
    asm("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

// Integers.
#define SELVEDGE_EXTREMES(type)                                                                                 \
    SELVEDGE_DEVICE type min(type a, type b) { return a < b ? a : b; }                                          \
    SELVEDGE_DEVICE type max(type a, type b) { return a > b ? a : b; }
SELVEDGE_EXTREMES(int)
SELVEDGE_EXTREMES(unsigned)
SELVEDGE_EXTREMES(long)
SELVEDGE_EXTREMES(unsigned long)
SELVEDGE_EXTREMES(long long)
SELVEDGE_EXTREMES(unsigned long long)
#undef SELVEDGE_EXTREMES
SELVEDGE_DEVICE unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
SELVEDGE_DEVICE unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
SELVEDGE_DEVICE unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
SELVEDGE_DEVICE unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
SELVEDGE_DEVICE float min(float a, float b) { return __builtin_fminf(a, b); }
SELVEDGE_DEVICE float max(float a, float b) { return __builtin_fmaxf(a, b); }
SELVEDGE_DEVICE double min(double a, double b) { return __builtin_fmin(a, b); }
SELVEDGE_DEVICE double max(double a, double b) { return __builtin_fmax(a, b); }
SELVEDGE_DEVICE double min(float a, double b) { return __builtin_fmin(a, b); }
SELVEDGE_DEVICE double min(double a, float b) { return __builtin_fmin(a, b); }
SELVEDGE_DEVICE double max(float a, double b) { return __builtin_fmax(a, b); }
SELVEDGE_DEVICE double max(double a, float b) { return __builtin_fmax(a, b); }
SELVEDGE_DEVICE int abs(int a) { return a < 0 ? -a : a; }
SELVEDGE_DEVICE long abs(long a) { return a < 0 ? -a : a; }
SELVEDGE_DEVICE long long abs(long long a) { return a < 0 ? -a : a; }
SELVEDGE_DEVICE float abs(float a) { return __builtin_fabsf(a); }
SELVEDGE_DEVICE double abs(double a) { return __builtin_fabs(a); }
SELVEDGE_DEVICE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
SELVEDGE_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
SELVEDGE_DEVICE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SELVEDGE_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
SELVEDGE_DEVICE int __clz(int a) { return a == 0 ? 32 : __builtin_clz(a); }
SELVEDGE_DEVICE int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll(a); }
SELVEDGE_DEVICE int __popc(unsigned a) { return __builtin_popcount(a); }
SELVEDGE_DEVICE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
SELVEDGE_DEVICE int __ffs(int a) { return __builtin_ffs(a); }
SELVEDGE_DEVICE int __ffsll(long long a) { return __builtin_ffsll(a); }
SELVEDGE_DEVICE unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
SELVEDGE_DEVICE unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
SELVEDGE_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { return __nvvm_prmt(a, b, s); }
SELVEDGE_DEVICE unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)(a < b ? b - a : a - b); }
SELVEDGE_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }

// Bits and conversions.
SELVEDGE_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
SELVEDGE_DEVICE unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
SELVEDGE_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
SELVEDGE_DEVICE float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
SELVEDGE_DEVICE long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
SELVEDGE_DEVICE double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
#define SELVEDGE_CONVERT(mode, ptx)                                                                             \
    SELVEDGE_DEVICE int __float2int_##mode(float a) { return __nvvm_f2i_##ptx(a); }                            \
    SELVEDGE_DEVICE unsigned __float2uint_##mode(float a) { return __nvvm_f2ui_##ptx(a); }                     \
    SELVEDGE_DEVICE int __double2int_##mode(double a) { return __nvvm_d2i_##ptx(a); }                          \
    SELVEDGE_DEVICE unsigned __double2uint_##mode(double a) { return __nvvm_d2ui_##ptx(a); }                   \
    SELVEDGE_DEVICE float __int2float_##mode(int a) { return __nvvm_i2f_##ptx(a); }                            \
    SELVEDGE_DEVICE float __uint2float_##mode(unsigned a) { return __nvvm_ui2f_##ptx(a); }                     \
    SELVEDGE_DEVICE float __double2float_##mode(double a) { return __nvvm_d2f_##ptx(a); }
SELVEDGE_CONVERT(rn, rn)
SELVEDGE_CONVERT(rz, rz)
SELVEDGE_CONVERT(rd, rm)
SELVEDGE_CONVERT(ru, rp)
#undef SELVEDGE_CONVERT

// Mathematics that PTX has.
SELVEDGE_DEVICE float __sinf(float a) { return __nvvm_sin_approx_f(a); }
SELVEDGE_DEVICE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
SELVEDGE_DEVICE float __log2f(float a) { return __nvvm_lg2_approx_f(a); }
SELVEDGE_DEVICE float exp2f(float a) { return __nvvm_ex2_approx_f(a); }
SELVEDGE_DEVICE float __expf(float a) { return exp2f(a * 1.44269504f); }
SELVEDGE_DEVICE float __exp10f(float a) { return exp2f(a * 3.32192809f); }
SELVEDGE_DEVICE float __logf(float a) { return __log2f(a) * 0.693147181f; }
SELVEDGE_DEVICE float __log10f(float a) { return __log2f(a) * 0.301029996f; }
SELVEDGE_DEVICE float __powf(float a, float b) { return exp2f(b * __log2f(a)); }
SELVEDGE_DEVICE float __tanf(float a) { return __sinf(a) / __cosf(a); }
SELVEDGE_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
SELVEDGE_DEVICE float __frcp_rn(float a) { return __nvvm_rcp_rn_f(a); }
SELVEDGE_DEVICE float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
SELVEDGE_DEVICE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
SELVEDGE_DEVICE float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
SELVEDGE_DEVICE float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
SELVEDGE_DEVICE float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
SELVEDGE_DEVICE double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
SELVEDGE_DEVICE double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
SELVEDGE_DEVICE double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
SELVEDGE_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
SELVEDGE_DEVICE float sinf(float a) { return __sinf(a); }
SELVEDGE_DEVICE float cosf(float a) { return __cosf(a); }
SELVEDGE_DEVICE float tanf(float a) { return __tanf(a); }
SELVEDGE_DEVICE void sincosf(float a, float *s, float *c) { *s = __sinf(a), *c = __cosf(a); }
SELVEDGE_DEVICE float expf(float a) { return __expf(a); }
SELVEDGE_DEVICE float logf(float a) { return __logf(a); }
SELVEDGE_DEVICE float log2f(float a) { return __log2f(a); }
SELVEDGE_DEVICE float log10f(float a) { return __log10f(a); }
SELVEDGE_DEVICE float powf(float a, float b) { return __powf(a, b); }
SELVEDGE_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
SELVEDGE_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
SELVEDGE_DEVICE double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
SELVEDGE_DEVICE double rsqrt(double a) { return __nvvm_rsqrt_approx_d(a); }
// Both precisions: NAMEf, and NAME for either.
#define SELVEDGE_BOTH(name)                                                                                     \
    SELVEDGE_DEVICE float name##f(float a) { return __builtin_##name##f(a); }                                   \
    SELVEDGE_DEVICE float name(float a) { return __builtin_##name##f(a); }                                      \
    SELVEDGE_DEVICE double name(double a) { return __builtin_##name(a); }
SELVEDGE_BOTH(fabs)
SELVEDGE_BOTH(floor)
SELVEDGE_BOTH(ceil)
SELVEDGE_BOTH(trunc)
SELVEDGE_BOTH(rint)
#undef SELVEDGE_BOTH
SELVEDGE_DEVICE float roundf(float a) { return __builtin_copysignf(truncf(fabsf(a) + 0.5f), a); }
SELVEDGE_DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
SELVEDGE_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
SELVEDGE_DEVICE double fmin(double a, double b) { return __builtin_fmin(a, b); }
SELVEDGE_DEVICE double fmax(double a, double b) { return __builtin_fmax(a, b); }
SELVEDGE_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
SELVEDGE_DEVICE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
SELVEDGE_DEVICE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
SELVEDGE_DEVICE float fmodf(float a, float b) { return a - b * truncf(a / b); }
SELVEDGE_DEVICE bool isnan(float a) { return a != a; }
SELVEDGE_DEVICE bool isnan(double a) { return a != a; }
SELVEDGE_DEVICE bool isinf(float a) { return fabsf(a) == __builtin_inff(); }
SELVEDGE_DEVICE bool isinf(double a) { return fabs(a) == __builtin_inf(); }
SELVEDGE_DEVICE float sqrt(float a) { return sqrtf(a); }
#define SELVEDGE_SINGLE(name)                                                                                   \
    SELVEDGE_DEVICE float name(float a) { return name##f(a); }                                                  \
    __device__ double name(double) = delete;
SELVEDGE_SINGLE(sin)
SELVEDGE_SINGLE(cos)
SELVEDGE_SINGLE(tan)
SELVEDGE_SINGLE(exp)
SELVEDGE_SINGLE(log)
#undef SELVEDGE_SINGLE
SELVEDGE_DEVICE float pow(float a, float b) { return powf(a, b); }
__device__ double pow(double, double) = delete;

// Time, printing, assertions and the heap.
SELVEDGE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
SELVEDGE_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(size_t);
extern "C" __device__ void free(void *);
extern "C" __device__ __attribute__((noreturn)) void
__assertfail(const char *message, const char *file, unsigned line, const char *function, size_t size);
#ifndef NDEBUG
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
#else
#define assert(e) ((void)0)
#endif
