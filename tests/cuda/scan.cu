// A prefix sum over blocks: the host scans the sums of the blocks.
#include "check.h"

__global__ void scan(const int *in, int *out, int *sums) {
    __shared__ int part[64];
    int i = threadIdx.x, at = blockIdx.x * 64 + i;
    part[i] = in[at];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int add = i >= step ? part[i - step] : 0;
        __syncthreads();
        part[i] += add;
        __syncthreads();
    }
    out[at] = part[i];
    if (i == 63) sums[blockIdx.x] = part[63];
}

__global__ void add(int *values, const int *offsets) { values[blockIdx.x * 64 + threadIdx.x] += offsets[blockIdx.x]; }

int main() {
    std::vector<int> values(640);
    for (int i = 0; i < 640; i++) values[i] = i % 13 - 3;
    int *in = on_device(values), *out, *sums;
    CUDA(cudaMalloc(&out, 640 * sizeof(int)));
    CUDA(cudaMalloc(&sums, 10 * sizeof(int)));
    scan<<<10, 64>>>(in, out, sums);
    auto offsets = from_device(sums, 10);
    int before = 0;
    for (int &offset : offsets) before += offset, offset = before - offset;
    add<<<10, 64>>>(out, on_device(offsets));
    auto got = from_device(out, 640);
    int sum = 0;
    for (int i = 0; i < 640; i++) DEMAND(got[i] == (sum += values[i]));
    std::printf("sum %d\n", sum);
    return 0;
}
