// A sum in several launches; the host decides how many and adds the rest.
#include "check.h"

__global__ void reduce(const int *in, int *out, int count) {
    __shared__ int part[128];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = at < count ? in[at] : 0;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int main() {
    std::vector<int> values(5000);
    long long expected = 0;
    for (int i = 0; i < 5000; i++) expected += values[i] = i * 7 % 101;
    int *from = on_device(values), *to;
    CUDA(cudaMalloc(&to, 5000 * sizeof(int)));
    int count = 5000, launches = 0;
    while (count > 8) {
        int blocks = (count + 127) / 128;
        reduce<<<blocks, 128>>>(from, to, count);
        CUDA(cudaGetLastError());
        std::swap(from, to);
        count = blocks;
        launches++;
    }
    long long sum = 0;
    for (int part : from_device(from, count)) sum += part;
    std::printf("sum %lld after %d launches\n", sum, launches);
    return sum != expected || launches != 2;
}
