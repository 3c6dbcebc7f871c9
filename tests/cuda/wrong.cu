// Programs that are wrong, one for each argument; each must end by itself with a message, whatever the device says.
#include "check.h"
#include <cassert>
#include <cstring>
#include <thread>

__global__ void store(int *out, int at) { out[at] = 1; }

__global__ void wait_apart() {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    else asm volatile("bar.sync 2, 64;");
}

__global__ void insist(int value) { assert(value == 0); }

__global__ void work(float *out, int turns) {
    float value = out[threadIdx.x];
    for (int i = 0; i < turns; i++) value = value * 1.5f + i;
    out[threadIdx.x] = value;
}

static int end(const char *what) {
    cudaError_t code = cudaDeviceSynchronize();
    std::printf("%s: %s\n", what, cudaGetErrorName(code));
    // A device that has failed does nothing any more.
    int *more;
    std::printf("then: %s\n", cudaGetErrorName(cudaMalloc(&more, 4)));
    return code == cudaSuccess ? 0 : 5;
}

int main(int, char **arguments) {
    int *memory;
    CUDA(cudaMalloc(&memory, 1024));
    const char *what = arguments[1];
    if (!std::strcmp(what, "bounds")) store<<<1, 1>>>(memory, 1000);
    if (!std::strcmp(what, "freed")) {
        CUDA(cudaFree(memory));
        store<<<1, 1>>>(memory, 0);
    }
    if (!std::strcmp(what, "threads")) {
        std::thread other([=] { store<<<1, 1>>>(memory, 1000); });
        // Each call stands before or behind the other thread's; in the end it fails.
        int *more;
        while (cudaMalloc(&more, 4) == cudaSuccess && cudaFree(more) == cudaSuccess) {}
        other.join();
    }
    if (!std::strcmp(what, "deadlock")) wait_apart<<<1, 64>>>();
    if (!std::strcmp(what, "assertion")) insist<<<1, 1>>>(1);
    if (!std::strcmp(what, "long")) {
        std::printf("begins\n");
        std::fflush(stdout);
        work<<<64, 256>>>((float *)memory, 1 << 30);
    }
    if (!std::strcmp(what, "code")) return 7;
    if (!std::strcmp(what, "abort")) std::abort();
    return end(what);
}
