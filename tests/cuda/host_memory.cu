// Host memory that kernels use, host functions in streams, and copies by asynchronous calls.
#include "check.h"

__global__ void increment(int *values) { values[threadIdx.x]++; }

static void note(void *data) { ++*(int *)data; }

static void CUDART_CB called(cudaStream_t, cudaError_t status, void *data) { *(int *)data += status == cudaSuccess ? 10 : 1000; }

int main() {
    int *host, *device, *plain, noted = 0;
    CUDA(cudaHostAlloc(&host, 32 * sizeof(int), cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&device, host, 0));
    CUDA(cudaHostAlloc(&plain, 32 * sizeof(int), cudaHostAllocDefault));
    for (int i = 0; i < 32; i++) host[i] = i;
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    increment<<<1, 32, 0, stream>>>(device);
    CUDA(cudaLaunchHostFunc(stream, note, &noted));
    CUDA(cudaStreamAddCallback(stream, called, &noted, 0));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpyAsync(plain, device, 32 * sizeof(int), cudaMemcpyDefault, stream));
    for (int i = 0; i < 32; i++) DEMAND(host[i] == i + 1 && plain[i] == i + 1);
    // Memory that the program owns.
    std::vector<int> own(32, 5);
    int *registered;
    CUDA(cudaHostRegister(own.data(), 32 * sizeof(int), cudaHostRegisterMapped));
    CUDA(cudaHostGetDevicePointer(&registered, own.data(), 0));
    increment<<<1, 32>>>(registered);
    CUDA(cudaDeviceSynchronize());
    for (int value : own) DEMAND(value == 6);
    CUDA(cudaHostUnregister(own.data()));
    CUDA(cudaFreeHost(host));
    CUDA(cudaFreeHost(plain));
    std::printf("noted %d\n", noted);
    return noted != 11;
}
