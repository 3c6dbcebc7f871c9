// Checks of CUDA calls and copies of vectors for the test programs. A program ends with 0 if its results are right.
#pragma once
#include "demand.h"
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call) \
    do { \
        cudaError_t code = (call); \
        if (code != cudaSuccess) { \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(code)); \
            std::exit(2); \
        } \
    } while (0)

template <typename T>
T *on_device(const std::vector<T> &values) {
    T *address;
    CUDA(cudaMalloc(&address, values.size() * sizeof(T)));
    CUDA(cudaMemcpy(address, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return address;
}

template <typename T>
std::vector<T> from_device(const T *address, size_t count) {
    std::vector<T> values(count);
    CUDA(cudaMemcpy(values.data(), address, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}
