// Dynamic shared memory and atomics, block by block, then over all blocks.
#include "check.h"

__global__ void histogram(const unsigned char *data, int count, unsigned *bins, int number) {
    extern __shared__ unsigned own[];
    for (int i = threadIdx.x; i < number; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) atomicAdd(own + data[i] % number, 1);
    __syncthreads();
    for (int i = threadIdx.x; i < number; i += blockDim.x) atomicAdd(bins + i, own[i]);
}

int main() {
    std::vector<unsigned char> data(4000);
    for (int i = 0; i < 4000; i++) data[i] = i * i / 7;
    for (int number : {16, 100}) {
        std::vector<unsigned> expected(number);
        for (auto byte : data) expected[byte % number]++;
        unsigned *bins;
        CUDA(cudaMalloc(&bins, number * sizeof(unsigned)));
        CUDA(cudaMemset(bins, 0, number * sizeof(unsigned)));
        histogram<<<4, 128, number * sizeof(unsigned)>>>(on_device(data), 4000, bins, number);
        DEMAND(from_device(bins, number) == expected);
    }
    std::printf("histograms agree\n");
    return 0;
}
