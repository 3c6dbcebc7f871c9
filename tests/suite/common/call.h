// Shared by the programs of the suite: ends a program whose call of CUDA fails.
#pragma once
#include <cstdio>
#include <cstdlib>

inline void call(cudaError_t code) {
    if (code == cudaSuccess) return;
    std::printf("CUDA: %s\n", cudaGetErrorString(code));
    std::exit(2);
}
