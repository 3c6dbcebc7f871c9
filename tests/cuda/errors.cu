// Mistakes that a program survives: each gives CUDA's error, and the device goes on.
#include "check.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

int main() {
    int *memory, host[32];
    CUDA(cudaMalloc(&memory, sizeof host));
    fill<<<1, 2048>>>(memory);
    DEMAND(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    DEMAND(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
    fill<<<0, 32>>>(memory);
    DEMAND(cudaGetLastError() == cudaErrorInvalidConfiguration);
    fill<<<1, 32, 1 << 20>>>(memory);
    DEMAND(cudaGetLastError() != cudaSuccess);
    DEMAND(cudaMemcpy(host, memory, 2 * sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    DEMAND(cudaMemcpy(memory + 1, host, sizeof host, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    DEMAND(cudaMemcpy(host, memory, sizeof host, (cudaMemcpyKind)9) == cudaErrorInvalidValue);
    DEMAND(cudaMemset(memory, 0, sizeof host + 1) == cudaErrorInvalidValue);
    DEMAND(cudaMemcpy2D(memory, 7, host, 8, 8, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
    DEMAND(cudaMemcpy2D(host, 8, memory, 7, 8, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
    DEMAND(cudaMemset2D(memory, 7, 0, 8, 2) == cudaErrorInvalidValue);
    DEMAND(cudaMemcpyToSymbol(host, host, 4) == cudaErrorInvalidSymbol);
    void *much;
    DEMAND(cudaMalloc(&much, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    DEMAND(cudaFree(memory + 1) == cudaErrorInvalidValue);
    DEMAND(cudaDeviceSetMemPool(0, nullptr) == cudaErrorNotSupported);
    cudaGetLastError();
    fill<<<1, 32>>>(memory);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(memory));
    DEMAND(cudaFree(memory) == cudaErrorInvalidValue);
    DEMAND(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    DEMAND(cudaMemset(memory, 0, sizeof host) == cudaErrorInvalidValue);
    CUDA(cudaFree(nullptr));
    // The end of a capture demands that the origin has waited for the other streams.
    cudaStream_t origin, other;
    cudaEvent_t fork;
    cudaGraph_t graph;
    CUDA(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&fork));
    CUDA(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(fork, origin));
    CUDA(cudaStreamWaitEvent(other, fork, 0));
    fill<<<1, 32, 0, other>>>(memory);
    DEMAND(cudaStreamEndCapture(origin, &graph) == cudaErrorStreamCaptureUnjoined);
    std::printf("%s\n", cudaGetErrorString(cudaErrorInvalidValue));
    return host[31] != 1;
}
