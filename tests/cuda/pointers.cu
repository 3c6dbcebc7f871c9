// Device addresses inside device memory: a table of rows that the host builds.
#include "check.h"

__global__ void sum_rows(int *const *rows, const int *lengths, int *sums) {
    int sum = 0;
    for (int i = 0; i < lengths[threadIdx.x]; i++) sum += rows[threadIdx.x][i];
    sums[threadIdx.x] = sum;
}

int main() {
    std::vector<int *> rows;
    std::vector<int> lengths, expected;
    for (int i = 0; i < 16; i++) {
        std::vector<int> row(i + 1, i);
        rows.push_back(on_device(row));
        lengths.push_back(i + 1);
        expected.push_back(i * (i + 1));
    }
    int *sums, *copy;
    CUDA(cudaMalloc(&sums, 16 * sizeof(int)));
    CUDA(cudaMalloc(&copy, 16 * sizeof(int)));
    sum_rows<<<1, 16>>>(on_device(rows), on_device(lengths), sums);
    CUDA(cudaMemcpy(copy, sums, 16 * sizeof(int), cudaMemcpyDefault));
    DEMAND(from_device(copy, 16) == expected);
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, sums));
    DEMAND(attributes.type == cudaMemoryTypeDevice);
    std::printf("rows agree\n");
    return 0;
}
