// Cooperative launches: all blocks of a grid wait for each other, several times.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int BLOCKS = 12, THREADS = 64, ROUNDS = 5;

// In each round, every block adds what its neighbour wrote in the round before.
__global__ void relay(int *values) {
    cg::grid_group grid = cg::this_grid();
    int block = blockIdx.x;
    for (int round = 0; round < ROUNDS; round++) {
        int next = values[round * BLOCKS + (block + 1) % BLOCKS];
        grid.sync();
        if (threadIdx.x == 0) values[(round + 1) * BLOCKS + block] = next + block;
        grid.sync();
    }
}

int main() {
    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    DEMAND(properties.cooperativeLaunch == 1);
    std::vector<int> start((ROUNDS + 1) * BLOCKS, 0);
    for (int i = 0; i < BLOCKS; i++) start[i] = 100 * i;
    int *values = on_device(start);
    void *args[] = {&values};
    for (int launch = 0; launch < 2; launch++) {
        CUDA(cudaLaunchCooperativeKernel((const void *)relay, dim3(BLOCKS), dim3(THREADS), args, 0, nullptr));
    }
    CUDA(cudaDeviceSynchronize());
    std::vector<int> found = from_device(values, start.size());
    std::vector<int> expected = start;
    for (int round = 0; round < ROUNDS; round++) {
        for (int block = 0; block < BLOCKS; block++) {
            expected[(round + 1) * BLOCKS + block] = expected[round * BLOCKS + (block + 1) % BLOCKS] + block;
        }
    }
    for (size_t i = 0; i < found.size(); i++) DEMAND(found[i] == expected[i]);
    // More blocks than fit on the GPU at the same time would wait forever.
    cudaError_t refused = cudaLaunchCooperativeKernel((const void *)relay, dim3(1 << 20), dim3(1024), args, 0, nullptr);
    DEMAND(refused == cudaErrorCooperativeLaunchTooLarge);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA(cudaLaunchKernelExC(&config, (const void *)relay, args));
    CUDA(cudaDeviceSynchronize());
    std::printf("blocks agree\n");
    return 0;
}
