// The CUDA device language over clang's builtins and PTX, for kernels that include no header of the host: no CUDA toolkit is
// needed. `selvedge new my.toml --cuda kernel.cu` includes it in front of the kernels.
//
// Single precision is what PTX has as approximations: sinf, expf, logf and powf are made of __sinf, __expf and their kin. Double
// precision is polynomials, good to some units in the last place; pow loses more where the result is very large or small.
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
SELVEDGE_DEVICE long long atomicMin(long long *p, long long v) { return __nvvm_atom_min_gen_ll(p, v); }
SELVEDGE_DEVICE long long atomicMax(long long *p, long long v) { return __nvvm_atom_max_gen_ll(p, v); }
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
// Those of a narrower or wider scope: the simulated device is one.
#define SELVEDGE_SCOPES(name)                                                                                   \
    template <class T, class U> SELVEDGE_DEVICE T name##_block(T *p, U v) { return name(p, (T)v); }              \
    template <class T, class U> SELVEDGE_DEVICE T name##_system(T *p, U v) { return name(p, (T)v); }
SELVEDGE_SCOPES(atomicAdd)
SELVEDGE_SCOPES(atomicSub)
SELVEDGE_SCOPES(atomicExch)
SELVEDGE_SCOPES(atomicMin)
SELVEDGE_SCOPES(atomicMax)
SELVEDGE_SCOPES(atomicAnd)
SELVEDGE_SCOPES(atomicOr)
SELVEDGE_SCOPES(atomicXor)
#undef SELVEDGE_SCOPES

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
#define SELVEDGE_LDG2(type, ptx, reg)                                                                           \
    SELVEDGE_DEVICE type __ldg(const type *p)                                                                   \
    {                                                                                                           \
        type v;                                                                                                 \
        asm("ld.global.nc.v2." ptx " {%0, %1}, [%2];" : "=" reg(v.x), "=" reg(v.y) : "l"(p));                   \
        return v;                                                                                               \
    }
#define SELVEDGE_LDG4(type, ptx, reg)                                                                           \
    SELVEDGE_DEVICE type __ldg(const type *p)                                                                   \
    {                                                                                                           \
        type v;                                                                                                 \
        asm("ld.global.nc.v4." ptx " {%0, %1, %2, %3}, [%4];"                                                   \
            : "=" reg(v.x), "=" reg(v.y), "=" reg(v.z), "=" reg(v.w) : "l"(p));                                 \
        return v;                                                                                               \
    }
SELVEDGE_LDG2(float2, "f32", "f")
SELVEDGE_LDG2(int2, "s32", "r")
SELVEDGE_LDG2(uint2, "u32", "r")
SELVEDGE_LDG2(double2, "f64", "d")
SELVEDGE_LDG2(longlong2, "s64", "l")
SELVEDGE_LDG2(ulonglong2, "u64", "l")
SELVEDGE_LDG4(float4, "f32", "f")
SELVEDGE_LDG4(int4, "s32", "r")
SELVEDGE_LDG4(uint4, "u32", "r")
#undef SELVEDGE_LDG2
#undef SELVEDGE_LDG4

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
SELVEDGE_DEVICE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SELVEDGE_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SELVEDGE_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
SELVEDGE_DEVICE unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
SELVEDGE_DEVICE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
SELVEDGE_DEVICE unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
SELVEDGE_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned count)
{
    return (unsigned)((((unsigned long long)high << 32 | low) << (count & 31)) >> 32);
}
SELVEDGE_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned count)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (count & 31));
}
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

// Bits, conversions, and arithmetic in the four directions of rounding.
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
    SELVEDGE_DEVICE float __double2float_##mode(double a) { return __nvvm_d2f_##ptx(a); }                      \
    SELVEDGE_DEVICE long long __float2ll_##mode(float a) { return __nvvm_f2ll_##ptx(a); }                      \
    SELVEDGE_DEVICE unsigned long long __float2ull_##mode(float a) { return __nvvm_f2ull_##ptx(a); }           \
    SELVEDGE_DEVICE long long __double2ll_##mode(double a) { return __nvvm_d2ll_##ptx(a); }                    \
    SELVEDGE_DEVICE unsigned long long __double2ull_##mode(double a) { return __nvvm_d2ull_##ptx(a); }         \
    SELVEDGE_DEVICE float __ll2float_##mode(long long a) { return __nvvm_ll2f_##ptx(a); }                      \
    SELVEDGE_DEVICE float __ull2float_##mode(unsigned long long a) { return __nvvm_ull2f_##ptx(a); }           \
    SELVEDGE_DEVICE double __ll2double_##mode(long long a) { return __nvvm_ll2d_##ptx(a); }                    \
    SELVEDGE_DEVICE double __ull2double_##mode(unsigned long long a) { return __nvvm_ull2d_##ptx(a); }         \
    SELVEDGE_DEVICE float __fadd_##mode(float a, float b) { return __nvvm_add_##ptx##_f(a, b); }               \
    SELVEDGE_DEVICE float __fsub_##mode(float a, float b) { return __nvvm_add_##ptx##_f(a, -b); }              \
    SELVEDGE_DEVICE float __fmul_##mode(float a, float b) { return __nvvm_mul_##ptx##_f(a, b); }               \
    SELVEDGE_DEVICE float __fdiv_##mode(float a, float b) { return __nvvm_div_##ptx##_f(a, b); }               \
    SELVEDGE_DEVICE float __frcp_##mode(float a) { return __nvvm_rcp_##ptx##_f(a); }                           \
    SELVEDGE_DEVICE float __fsqrt_##mode(float a) { return __nvvm_sqrt_##ptx##_f(a); }                         \
    SELVEDGE_DEVICE float __fmaf_##mode(float a, float b, float c) { return __nvvm_fma_##ptx##_f(a, b, c); }   \
    SELVEDGE_DEVICE double __dadd_##mode(double a, double b) { return __nvvm_add_##ptx##_d(a, b); }            \
    SELVEDGE_DEVICE double __dsub_##mode(double a, double b) { return __nvvm_add_##ptx##_d(a, -b); }           \
    SELVEDGE_DEVICE double __dmul_##mode(double a, double b) { return __nvvm_mul_##ptx##_d(a, b); }            \
    SELVEDGE_DEVICE double __ddiv_##mode(double a, double b) { return __nvvm_div_##ptx##_d(a, b); }            \
    SELVEDGE_DEVICE double __drcp_##mode(double a) { return __nvvm_rcp_##ptx##_d(a); }                         \
    SELVEDGE_DEVICE double __dsqrt_##mode(double a) { return __nvvm_sqrt_##ptx##_d(a); }                       \
    SELVEDGE_DEVICE double __fma_##mode(double a, double b, double c) { return __nvvm_fma_##ptx##_d(a, b, c); }
SELVEDGE_CONVERT(rn, rn)
SELVEDGE_CONVERT(rz, rz)
SELVEDGE_CONVERT(rd, rm)
SELVEDGE_CONVERT(ru, rp)
#undef SELVEDGE_CONVERT
SELVEDGE_DEVICE double __int2double_rn(int a) { return a; }
SELVEDGE_DEVICE double __uint2double_rn(unsigned a) { return a; }
SELVEDGE_DEVICE float __frsqrt_rn(float a) { return __nvvm_rsqrt_approx_f(a); }
SELVEDGE_DEVICE int __double2hiint(double a) { return (int)(__double_as_longlong(a) >> 32); }
SELVEDGE_DEVICE int __double2loint(double a) { return (int)__double_as_longlong(a); }
SELVEDGE_DEVICE double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)high << 32 | (unsigned)low);
}

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
SELVEDGE_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
SELVEDGE_DEVICE float sinf(float a) { return __sinf(a); }
SELVEDGE_DEVICE float cosf(float a) { return __cosf(a); }
SELVEDGE_DEVICE float tanf(float a) { return __tanf(a); }
SELVEDGE_DEVICE void sincosf(float a, float *s, float *c) { *s = __sinf(a), *c = __cosf(a); }
SELVEDGE_DEVICE float expf(float a) { return __expf(a); }
SELVEDGE_DEVICE float logf(float a) { return __logf(a); }
SELVEDGE_DEVICE float log2f(float a) { return __log2f(a); }
SELVEDGE_DEVICE float log10f(float a) { return __log10f(a); }
SELVEDGE_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
SELVEDGE_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
SELVEDGE_DEVICE float exp10f(float a) { return __exp10f(a); }
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
#define SELVEDGE_PAIR(name)                                                                                     \
    SELVEDGE_DEVICE float name##f(float a, float b) { return __builtin_##name##f(a, b); }                       \
    SELVEDGE_DEVICE float name(float a, float b) { return __builtin_##name##f(a, b); }                          \
    SELVEDGE_DEVICE double name(double a, double b) { return __builtin_##name(a, b); }
SELVEDGE_PAIR(fmin)
SELVEDGE_PAIR(fmax)
SELVEDGE_PAIR(copysign)
#undef SELVEDGE_PAIR
SELVEDGE_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
SELVEDGE_DEVICE float fma(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
SELVEDGE_DEVICE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
SELVEDGE_DEVICE float sqrt(float a) { return sqrtf(a); }
SELVEDGE_DEVICE float rsqrt(float a) { return rsqrtf(a); }
SELVEDGE_DEVICE bool isnan(float a) { return a != a; }
SELVEDGE_DEVICE bool isnan(double a) { return a != a; }
SELVEDGE_DEVICE bool isinf(float a) { return fabsf(a) == __builtin_inff(); }
SELVEDGE_DEVICE bool isinf(double a) { return fabs(a) == __builtin_inf(); }
SELVEDGE_DEVICE bool isfinite(float a) { return fabsf(a) < __builtin_inff(); }
SELVEDGE_DEVICE bool isfinite(double a) { return fabs(a) < __builtin_inf(); }
SELVEDGE_DEVICE bool signbit(float a) { return __float_as_int(a) < 0; }
SELVEDGE_DEVICE bool signbit(double a) { return __double_as_longlong(a) < 0; }

// Double precision: exponentials, logarithms and angles, by reduction to a small interval and a polynomial.
SELVEDGE_DEVICE double ldexp(double a, int power)
{
    // Two steps, since 2^power may be no number where the result is one.
    int half = max(-1022, min(1023, power / 2)), rest = max(-1022, min(1023, power - half));
    return a * __longlong_as_double((half + 1023ll) << 52) * __longlong_as_double((rest + 1023ll) << 52);
}
SELVEDGE_DEVICE double exp(double a)
{
    double turns = rint(a * 1.4426950408889634), rest = fma(-turns, 0.6931471805599453, a), sum = 1;
    rest = fma(-turns, 2.3190468138462996e-17, rest);
#pragma unroll
    for (int n = 14; n > 0; n--)
        sum = fma(sum, rest / n, 1.0);
    double out = ldexp(sum, (int)turns);
    return a > 709.782712893384 ? __builtin_inf() : a < -745.14 ? 0 : a != a ? a : out;
}
SELVEDGE_DEVICE double log(double a)
{
    bool tiny = a < 2.2250738585072014e-308;
    long long bits = __double_as_longlong(tiny ? a * 18014398509481984.0 : a);
    double exponent = (double)((bits >> 52) - (tiny ? 1077 : 1023));
    double part = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
    if (part > 1.4142135623730951)
        part *= 0.5, exponent += 1;
    double s = (part - 1) / (part + 1), square = s * s, sum = 1.0 / 25;
#pragma unroll
    for (int n = 23; n > 1; n -= 2)
        sum = fma(sum, square, 1.0 / n);
    double small = fma(exponent, 2.3190468138462996e-17, 2 * s * square * sum);
    double out = fma(exponent, 0.6931471805599453, fma(2.0, s, small));
    return a > 0 ? (a < __builtin_inf() ? out : a) : a == 0 ? -__builtin_inf() : __builtin_nan("");
}
SELVEDGE_DEVICE double exp2(double a)
{
    double turns = rint(a);
    return ldexp(exp((a - turns) * 0.6931471805599453), (int)turns);
}
SELVEDGE_DEVICE double exp10(double a) { return exp(a * 2.302585092994046); }
SELVEDGE_DEVICE double log2(double a) { return log(a) * 1.4426950408889634; }
SELVEDGE_DEVICE double log10(double a) { return log(a) * 0.4342944819032518; }
SELVEDGE_DEVICE void sincos(double a, double *sine, double *cosine)
{
    double turns = rint(a * 0.6366197723675814), rest = fma(-turns, 1.5707963267948966, a);
    rest = fma(-turns, -1.4973849048591833e-33, fma(-turns, 6.123233995736766e-17, rest));
    double square = rest * rest, s = 1, c = 1;
#pragma unroll
    for (int n = 18; n > 1; n -= 2) {
        s = fma(s, -square / (n * (n + 1)), 1.0);
        c = fma(c, -square / (n * (n - 1)), 1.0);
    }
    s *= rest;
    int quarter = (int)(long long)turns;
    double first = quarter & 1 ? c : s, second = quarter & 1 ? s : c;
    *sine = quarter & 2 ? -first : first;
    *cosine = (quarter + 1) & 2 ? -second : second;
}
SELVEDGE_DEVICE double sin(double a)
{
    double s, c;
    return sincos(a, &s, &c), s;
}
SELVEDGE_DEVICE double cos(double a)
{
    double s, c;
    return sincos(a, &s, &c), c;
}
SELVEDGE_DEVICE double tan(double a)
{
    double s, c;
    return sincos(a, &s, &c), s / c;
}
SELVEDGE_DEVICE void sincos(float a, float *s, float *c) { sincosf(a, s, c); }

// Functions of both precisions that are made of others.
template <class T> SELVEDGE_DEVICE T selvedge_power(T a, int power)
{
    T out = 1;
    for (unsigned left = power < 0 ? 0u - power : power; left != 0; left >>= 1, a *= a)
        if (left & 1)
            out *= a;
    return power < 0 ? 1 / out : out;
}
SELVEDGE_DEVICE float powf(float a, float b)
{
    if (fabsf(b) <= 64 && b == rintf(b))
        return selvedge_power(a, (int)b);
    float out = __powf(fabsf(a), b);
    return a >= 0 ? out : b != rintf(b) ? __builtin_nanf("") : fabsf(b) < 16777216 && (int)b & 1 ? -out : out;
}
SELVEDGE_DEVICE double pow(double a, double b)
{
    if (fabs(b) <= 64 && b == rint(b))
        return selvedge_power(a, (int)b);
    double logarithm = log(fabs(a)), product = b * logarithm, out = exp(product);
    if (fabs(product) < 700)
        out = fma(out, fma(b, logarithm, -product), out);
    return a >= 0 ? out : b != rint(b) ? __builtin_nan("") : fabs(b) < 9e15 && (long long)b & 1 ? -out : out;
}
SELVEDGE_DEVICE float pow(float a, float b) { return powf(a, b); }
SELVEDGE_DEVICE float pow(float a, int b) { return selvedge_power(a, b); }
SELVEDGE_DEVICE double pow(double a, int b) { return selvedge_power(a, b); }
SELVEDGE_DEVICE float exp(float a) { return expf(a); }
SELVEDGE_DEVICE float log(float a) { return logf(a); }
template <class T> SELVEDGE_DEVICE T selvedge_expm1(T a)
{
    T sum = 1;
#pragma unroll
    for (int n = 15; n > 1; n--)
        sum = fma(sum, a / n, (T)1);
    return fabs(a) < (T)0.35 ? a * sum : exp(a) - 1;
}
template <class T> SELVEDGE_DEVICE T selvedge_log1p(T a)
{
    T sum = 1 + a;
    return sum == 1 || sum - 1 == sum ? a : log(sum) * (a / (sum - 1));
}
template <class T> SELVEDGE_DEVICE T selvedge_sinh(T a)
{
    T e = selvedge_expm1(fabs(a));
    return copysign((e + (e / (e + 1))) / 2, a);
}
template <class T> SELVEDGE_DEVICE T selvedge_cosh(T a)
{
    T e = exp(fabs(a));
    return (e + 1 / e) / 2;
}
template <class T> SELVEDGE_DEVICE T selvedge_tanh(T a)
{
    // Beyond 20 it is 1 in both precisions.
    T e = selvedge_expm1(2 * fmin(fabs(a), (T)20));
    return copysign(e / (e + 2), a);
}
template <class T> SELVEDGE_DEVICE T selvedge_atan(T a)
{
    T x = fabs(a);
    bool turned = x > 1;
    x = turned ? 1 / x : x;
    // tan(pi/12) and the square root of 3: what is left is within 15 degrees.
    bool far = x > (T)0.2679491924311227;
    x = far ? ((T)1.7320508075688772 * x - 1) / (x + (T)1.7320508075688772) : x;
    T square = x * x, sum = 0;
#pragma unroll
    for (int n = sizeof(T) == 8 ? 31 : 13; n > 0; n -= 2)
        sum = fma(sum, -square, (T)1 / n);
    T out = far ? fma(sum, x, (T)0.5235987755982988) : sum * x;
    return copysign(turned ? (T)1.5707963267948966 - out : out, a);
}
template <class T> SELVEDGE_DEVICE T selvedge_atan2(T y, T x)
{
    if (x == 0 && y == 0)
        return copysign(signbit(x) ? (T)3.141592653589793 : (T)0, y);
    T low = fabs(x), high = fabs(y), out = selvedge_atan(isinf(low) && isinf(high) ? (T)1 : high / low);
    return copysign(signbit(x) ? (T)3.141592653589793 - out : out, y);
}
template <class T> SELVEDGE_DEVICE T selvedge_asin(T a) { return selvedge_atan2(a, sqrt((1 - a) * (1 + a))); }
template <class T> SELVEDGE_DEVICE T selvedge_acos(T a) { return selvedge_atan2(sqrt((1 - a) * (1 + a)), a); }
template <class T> SELVEDGE_DEVICE T selvedge_asinh(T a)
{
    T x = fabs(a);
    return copysign(selvedge_log1p(x + x * x / (1 + sqrt(x * x + 1))), a);
}
template <class T> SELVEDGE_DEVICE T selvedge_acosh(T a) { return selvedge_log1p(a - 1 + sqrt((a - 1) * (a + 1))); }
template <class T> SELVEDGE_DEVICE T selvedge_atanh(T a) { return selvedge_log1p(2 * a / (1 - a)) / 2; }
template <class T> SELVEDGE_DEVICE T selvedge_cbrt(T a)
{
    if (a == 0 || isinf(a) || a != a)
        return a;
    T x = fabs(a), root = exp(log(x) / 3);
    root -= (root * root * root - x) / (3 * root * root);
    return copysign(root, a);
}
template <class T> SELVEDGE_DEVICE T selvedge_round(T a)
{
    T whole = trunc(a);
    return fabs(a - whole) < (T)0.5 ? whole : whole + copysign((T)1, a);
}
template <class T> SELVEDGE_DEVICE T selvedge_hypot(T a, T b)
{
    T high = fmax(fabs(a), fabs(b)), part = fmin(fabs(a), fabs(b)) / high;
    return high == 0 ? (T)0 : high * sqrt(fma(part, part, (T)1));
}
template <class T> SELVEDGE_DEVICE T selvedge_fmod(T a, T b) { return fma(-b, trunc(a / b), a); }
template <class T> SELVEDGE_DEVICE T selvedge_fdim(T a, T b) { return a > b ? a - b : (T)0; }
#define SELVEDGE_MADE(name)                                                                                     \
    SELVEDGE_DEVICE float name##f(float a) { return selvedge_##name(a); }                                       \
    SELVEDGE_DEVICE float name(float a) { return selvedge_##name(a); }                                          \
    SELVEDGE_DEVICE double name(double a) { return selvedge_##name(a); }
#define SELVEDGE_MADE_PAIR(name)                                                                                \
    SELVEDGE_DEVICE float name##f(float a, float b) { return selvedge_##name(a, b); }                           \
    SELVEDGE_DEVICE float name(float a, float b) { return selvedge_##name(a, b); }                              \
    SELVEDGE_DEVICE double name(double a, double b) { return selvedge_##name(a, b); }
SELVEDGE_MADE(expm1)
SELVEDGE_MADE(log1p)
SELVEDGE_MADE(sinh)
SELVEDGE_MADE(cosh)
SELVEDGE_MADE(tanh)
SELVEDGE_MADE(asin)
SELVEDGE_MADE(acos)
SELVEDGE_MADE(atan)
SELVEDGE_MADE(asinh)
SELVEDGE_MADE(acosh)
SELVEDGE_MADE(atanh)
SELVEDGE_MADE(cbrt)
SELVEDGE_MADE(round)
SELVEDGE_MADE_PAIR(atan2)
SELVEDGE_MADE_PAIR(hypot)
SELVEDGE_MADE_PAIR(fmod)
SELVEDGE_MADE_PAIR(fdim)
#undef SELVEDGE_MADE
#undef SELVEDGE_MADE_PAIR
SELVEDGE_DEVICE float sin(float a) { return sinf(a); }
SELVEDGE_DEVICE float cos(float a) { return cosf(a); }
SELVEDGE_DEVICE float tan(float a) { return tanf(a); }
SELVEDGE_DEVICE float exp2(float a) { return exp2f(a); }
SELVEDGE_DEVICE float exp10(float a) { return exp10f(a); }
SELVEDGE_DEVICE float log2(float a) { return log2f(a); }
SELVEDGE_DEVICE float log10(float a) { return log10f(a); }
SELVEDGE_DEVICE float ldexpf(float a, int power) { return (float)ldexp((double)a, power); }
SELVEDGE_DEVICE int lrintf(float a) { return (int)rintf(a); }
SELVEDGE_DEVICE long lrint(double a) { return (long)rint(a); }
SELVEDGE_DEVICE long lroundf(float a) { return (long)roundf(a); }
SELVEDGE_DEVICE long lround(double a) { return (long)round(a); }
// Whole numbers count as double precision, as in C++.
template <class T, bool WHOLE = __is_integral(T)> struct SelvedgeWhole {};
template <class T> struct SelvedgeWhole<T, true> { typedef double type; };
template <class A, class B, bool MIXED = !__is_same(A, B) || __is_integral(A)> struct SelvedgeMixed {};
template <class A, class B> struct SelvedgeMixed<A, B, true> { typedef double type; };
#define SELVEDGE_WHOLE(name)                                                                                    \
    template <class T> SELVEDGE_DEVICE typename SelvedgeWhole<T>::type name(T a) { return name((double)a); }
#define SELVEDGE_MIXED(name)                                                                                    \
    template <class A, class B> SELVEDGE_DEVICE typename SelvedgeMixed<A, B>::type name(A a, B b)               \
    { return name((double)a, (double)b); }
SELVEDGE_WHOLE(sqrt)
SELVEDGE_WHOLE(exp)
SELVEDGE_WHOLE(exp2)
SELVEDGE_WHOLE(log)
SELVEDGE_WHOLE(log2)
SELVEDGE_WHOLE(log10)
SELVEDGE_WHOLE(sin)
SELVEDGE_WHOLE(cos)
SELVEDGE_WHOLE(tan)
SELVEDGE_WHOLE(atan)
SELVEDGE_WHOLE(tanh)
SELVEDGE_WHOLE(fabs)
SELVEDGE_WHOLE(floor)
SELVEDGE_WHOLE(ceil)
SELVEDGE_MIXED(pow)
SELVEDGE_MIXED(fmod)
SELVEDGE_MIXED(atan2)
SELVEDGE_MIXED(fmin)
SELVEDGE_MIXED(fmax)
#undef SELVEDGE_WHOLE
#undef SELVEDGE_MIXED

// Textures: references of CUDA 11 and older, which are variables, and objects, which are handles. A fetch gives four numbers, of
// which the texel's type takes the first ones.
typedef unsigned long long cudaTextureObject_t;
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum { cudaTextureType1D = 1, cudaTextureType2D, cudaTextureType3D };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
};
template <class T, int DIRECTIONS = 1, cudaTextureReadMode MODE = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {};

#define SELVEDGE_FETCH(four, ptx, reg)                                                                          \
    SELVEDGE_DEVICE void selvedge_fetch(four &v, cudaTextureObject_t from, int x)                               \
    {                                                                                                           \
        asm("tex.1d.v4." ptx ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                                               \
            : "=" reg(v.x), "=" reg(v.y), "=" reg(v.z), "=" reg(v.w) : "l"(from), "r"(x));                      \
    }                                                                                                           \
    SELVEDGE_DEVICE void selvedge_fetch(four &v, cudaTextureObject_t from, float x)                             \
    {                                                                                                           \
        asm("tex.1d.v4." ptx ".f32 {%0, %1, %2, %3}, [%4, {%5}];"                                               \
            : "=" reg(v.x), "=" reg(v.y), "=" reg(v.z), "=" reg(v.w) : "l"(from), "f"(x));                      \
    }                                                                                                           \
    SELVEDGE_DEVICE void selvedge_fetch(four &v, cudaTextureObject_t from, float x, float y)                    \
    {                                                                                                           \
        asm("tex.2d.v4." ptx ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                           \
            : "=" reg(v.x), "=" reg(v.y), "=" reg(v.z), "=" reg(v.w) : "l"(from), "f"(x), "f"(y));              \
    }                                                                                                           \
    SELVEDGE_DEVICE void selvedge_fetch(four &v, cudaTextureObject_t from, float x, float y, float z)           \
    {                                                                                                           \
        asm("tex.3d.v4." ptx ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                                   \
            : "=" reg(v.x), "=" reg(v.y), "=" reg(v.z), "=" reg(v.w) : "l"(from), "f"(x), "f"(y), "f"(z));      \
    }
SELVEDGE_FETCH(float4, "f32", "f")
SELVEDGE_FETCH(int4, "s32", "r")
SELVEDGE_FETCH(uint4, "u32", "r")
#undef SELVEDGE_FETCH

template <class T> struct SelvedgeTexel;
#define SELVEDGE_TEXEL(type, four_of, real_of, ...)                                                             \
    template <> struct SelvedgeTexel<type> {                                                                    \
        typedef four_of four;                                                                                   \
        typedef real_of real;                                                                                   \
        template <class R, class V> __device__ static R of(V v) { return __VA_ARGS__; }                         \
    };
#define SELVEDGE_TEXELS(name, type, four)                                                                       \
    SELVEDGE_TEXEL(type, four, float, (R)v.x)                                                                   \
    SELVEDGE_TEXEL(name##1, four, float1, R{(decltype(R::x))v.x})                                               \
    SELVEDGE_TEXEL(name##2, four, float2, R{(decltype(R::x))v.x, (decltype(R::x))v.y})                          \
    SELVEDGE_TEXEL(name##4, four, float4,                                                                       \
                   R{(decltype(R::x))v.x, (decltype(R::x))v.y, (decltype(R::x))v.z, (decltype(R::x))v.w})
SELVEDGE_TEXELS(char, signed char, int4)
SELVEDGE_TEXELS(uchar, unsigned char, uint4)
SELVEDGE_TEXELS(short, short, int4)
SELVEDGE_TEXELS(ushort, unsigned short, uint4)
SELVEDGE_TEXELS(int, int, int4)
SELVEDGE_TEXELS(uint, unsigned, uint4)
SELVEDGE_TEXELS(float, float, float4)
SELVEDGE_TEXEL(char, int4, float, (R)v.x)
#undef SELVEDGE_TEXELS
#undef SELVEDGE_TEXEL
// What a fetch by a reference returns.
template <class T, cudaTextureReadMode MODE> struct SelvedgeSample {
    typedef T type;
    typedef typename SelvedgeTexel<T>::four four;
};
template <class T> struct SelvedgeSample<T, cudaReadModeNormalizedFloat> {
    typedef typename SelvedgeTexel<T>::real type;
    typedef float4 four;
};
// A reference is its handle in PTX, and no number in C++: an instruction moves it.
template <class T> SELVEDGE_DEVICE cudaTextureObject_t selvedge_handle(T reference)
{
    cudaTextureObject_t handle;
    asm("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
    return handle;
}
#define SELVEDGE_TEXTURE(name, directions, coordinates, ...)                                                    \
    template <class T> SELVEDGE_DEVICE T name(cudaTextureObject_t from, SELVEDGE_UNPACK coordinates)            \
    {                                                                                                           \
        typename SelvedgeTexel<T>::four v;                                                                      \
        selvedge_fetch(v, from, __VA_ARGS__);                                                                   \
        return SelvedgeTexel<T>::template of<T>(v);                                                             \
    }                                                                                                           \
    template <class T> SELVEDGE_DEVICE void name(T *out, cudaTextureObject_t from, SELVEDGE_UNPACK coordinates) \
    { *out = name<T>(from, __VA_ARGS__); }                                                                      \
    template <class T, cudaTextureReadMode MODE>                                                                \
    SELVEDGE_DEVICE typename SelvedgeSample<T, MODE>::type                                                      \
    name(texture<T, directions, MODE> from, SELVEDGE_UNPACK coordinates)                                        \
    {                                                                                                           \
        typename SelvedgeSample<T, MODE>::four v;                                                               \
        selvedge_fetch(v, selvedge_handle(from), __VA_ARGS__);                                                  \
        return SelvedgeTexel<T>::template of<typename SelvedgeSample<T, MODE>::type>(v);                        \
    }
#define SELVEDGE_UNPACK(...) __VA_ARGS__
SELVEDGE_TEXTURE(tex1Dfetch, 1, (int x), x)
SELVEDGE_TEXTURE(tex1D, 1, (float x), x)
SELVEDGE_TEXTURE(tex2D, 2, (float x, float y), x, y)
SELVEDGE_TEXTURE(tex3D, 3, (float x, float y, float z), x, y, z)
#undef SELVEDGE_TEXTURE
#undef SELVEDGE_UNPACK

// Time, printing, assertions and memory.
SELVEDGE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
SELVEDGE_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void *malloc(size_t);
extern "C" __device__ void free(void *);
extern "C" __host__ void *malloc(size_t) noexcept;
extern "C" __host__ void free(void *) noexcept;
SELVEDGE_DEVICE void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
SELVEDGE_DEVICE void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }
SELVEDGE_DEVICE void __trap() { asm volatile("trap;"); }
extern "C" __device__ __attribute__((noreturn)) void
__assertfail(const char *message, const char *file, unsigned line, const char *function, size_t size);
// What the C library's assert calls, in kernels that include <assert.h>.
extern "C" inline __device__ __attribute__((noreturn)) void
__assert_fail(const char *message, const char *file, unsigned line, const char *function) noexcept
{
    __assertfail(message, file, line, function, 1);
}
#ifndef NDEBUG
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
#else
#define assert(e) ((void)0)
#endif

// What host code beside the kernels calls. Only kernels are compiled: the calls are declared, whatever their arguments, and no more.
enum cudaError { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorNotReady = 600, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct cudaArray *cudaArray_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int concurrentKernels, ECCEnabled, memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
};
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f);
#define SELVEDGE_HOST(name) template <class... T> cudaError_t name(T &&...);
SELVEDGE_HOST(cudaBindTexture)
SELVEDGE_HOST(cudaBindTexture2D)
SELVEDGE_HOST(cudaBindTextureToArray)
SELVEDGE_HOST(cudaChooseDevice)
SELVEDGE_HOST(cudaCreateTextureObject)
SELVEDGE_HOST(cudaDestroyTextureObject)
SELVEDGE_HOST(cudaDeviceGetAttribute)
SELVEDGE_HOST(cudaDeviceReset)
SELVEDGE_HOST(cudaDeviceSetCacheConfig)
SELVEDGE_HOST(cudaDeviceSetLimit)
SELVEDGE_HOST(cudaDeviceSynchronize)
SELVEDGE_HOST(cudaEventCreate)
SELVEDGE_HOST(cudaEventCreateWithFlags)
SELVEDGE_HOST(cudaEventDestroy)
SELVEDGE_HOST(cudaEventElapsedTime)
SELVEDGE_HOST(cudaEventQuery)
SELVEDGE_HOST(cudaEventRecord)
SELVEDGE_HOST(cudaEventSynchronize)
SELVEDGE_HOST(cudaFree)
SELVEDGE_HOST(cudaFreeArray)
SELVEDGE_HOST(cudaFreeHost)
SELVEDGE_HOST(cudaFuncGetAttributes)
SELVEDGE_HOST(cudaFuncSetAttribute)
SELVEDGE_HOST(cudaFuncSetCacheConfig)
SELVEDGE_HOST(cudaGetDevice)
SELVEDGE_HOST(cudaGetDeviceCount)
SELVEDGE_HOST(cudaGetDeviceProperties)
SELVEDGE_HOST(cudaGetLastError)
SELVEDGE_HOST(cudaGetSymbolAddress)
SELVEDGE_HOST(cudaHostAlloc)
SELVEDGE_HOST(cudaHostGetDevicePointer)
SELVEDGE_HOST(cudaHostRegister)
SELVEDGE_HOST(cudaHostUnregister)
SELVEDGE_HOST(cudaMalloc)
SELVEDGE_HOST(cudaMalloc3D)
SELVEDGE_HOST(cudaMallocArray)
SELVEDGE_HOST(cudaMallocHost)
SELVEDGE_HOST(cudaMallocManaged)
SELVEDGE_HOST(cudaMallocPitch)
SELVEDGE_HOST(cudaMemGetInfo)
SELVEDGE_HOST(cudaMemPrefetchAsync)
SELVEDGE_HOST(cudaMemcpy)
SELVEDGE_HOST(cudaMemcpy2D)
SELVEDGE_HOST(cudaMemcpy2DAsync)
SELVEDGE_HOST(cudaMemcpy3D)
SELVEDGE_HOST(cudaMemcpyAsync)
SELVEDGE_HOST(cudaMemcpyFromSymbol)
SELVEDGE_HOST(cudaMemcpyToArray)
SELVEDGE_HOST(cudaMemcpyToSymbol)
SELVEDGE_HOST(cudaMemcpyToSymbolAsync)
SELVEDGE_HOST(cudaMemset)
SELVEDGE_HOST(cudaMemset2D)
SELVEDGE_HOST(cudaMemsetAsync)
SELVEDGE_HOST(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
SELVEDGE_HOST(cudaPeekAtLastError)
SELVEDGE_HOST(cudaSetDevice)
SELVEDGE_HOST(cudaSetDeviceFlags)
SELVEDGE_HOST(cudaStreamCreate)
SELVEDGE_HOST(cudaStreamCreateWithFlags)
SELVEDGE_HOST(cudaStreamDestroy)
SELVEDGE_HOST(cudaStreamQuery)
SELVEDGE_HOST(cudaStreamSynchronize)
SELVEDGE_HOST(cudaStreamWaitEvent)
SELVEDGE_HOST(cudaThreadExit)
SELVEDGE_HOST(cudaThreadSetCacheConfig)
SELVEDGE_HOST(cudaThreadSynchronize)
SELVEDGE_HOST(cudaUnbindTexture)
#undef SELVEDGE_HOST
