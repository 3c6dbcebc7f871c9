// What the device says of itself and of kernels.
#include "check.h"
#include <cstring>

__global__ void __launch_bounds__(256) kernel(float *out) {
    __shared__ float part[512];
    part[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}

int main() {
    int count, device = -1, value, blocks;
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetDevice(&device));
    DEMAND(count == 1 && device == 0);
    DEMAND(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    DEMAND(std::strcmp(properties.name, "Selvedge simulated GPU") == 0);
    DEMAND(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024 && properties.major >= 6);
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    DEMAND(value == properties.multiProcessorCount && value > 0);
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, 0));
    DEMAND(value == 1);
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    DEMAND(properties.asyncEngineCount == 1);
#if CUDART_VERSION >= 12000
    DEMAND(properties.memoryPoolsSupported == 1 && properties.hostRegisterSupported == 1);
#endif
    DEMAND(properties.sharedMemPerBlock > 0 && properties.maxThreadsPerMultiProcessor >= 1024);
    CUDA(cudaRuntimeGetVersion(&count));
    DEMAND(count / 1000 == CUDART_VERSION / 1000);
    size_t before, after, total;
    CUDA(cudaMemGetInfo(&before, &total));
    void *memory;
    CUDA(cudaMalloc(&memory, 1 << 20));
    CUDA(cudaMemGetInfo(&after, &total));
    DEMAND(before - after == 1 << 20 && total == properties.totalGlobalMem);
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, kernel));
    DEMAND(attributes.sharedSizeBytes == 2048 && attributes.maxThreadsPerBlock == 256 && attributes.numRegs > 0);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    DEMAND(blocks >= 1 && blocks * 256 <= properties.maxThreadsPerMultiProcessor);
    CUDA(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1));
    kernel<<<1, 256>>>((float *)memory);
    CUDA(cudaDeviceSynchronize());
    std::printf("%d SMs, %d blocks of 256 threads\n", value, blocks);
    return 0;
}
