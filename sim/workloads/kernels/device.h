// The little of the CUDA device language that these kernels use, defined over clang's builtins.
//
// Included on the command line by build.sh, so that the kernels compile with clang alone: no CUDA toolkit.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

// One built-in index vector: reading member x calls the builtin that reads the special register.
#define DEVICE_INDEX(type, reg)                                                                                 \
    struct type {                                                                                               \
        __declspec(property(get = read_x)) unsigned x;                                                          \
        __declspec(property(get = read_y)) unsigned y;                                                          \
        __device__ static unsigned read_x() { return __nvvm_read_ptx_sreg_##reg##_x(); }                        \
        __device__ static unsigned read_y() { return __nvvm_read_ptx_sreg_##reg##_y(); }                        \
    }

DEVICE_INDEX(ThreadIndex, tid);
DEVICE_INDEX(BlockIndex, ctaid);
DEVICE_INDEX(BlockShape, ntid);

// Never defined: only the members' getters are used, and they need no object.
extern const __device__ ThreadIndex threadIdx;
extern const __device__ BlockIndex blockIdx;
extern const __device__ BlockShape blockDim;

#undef DEVICE_INDEX

// __syncthreads() is itself one of clang's builtins.
