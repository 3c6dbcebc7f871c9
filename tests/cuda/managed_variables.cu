// Managed variables: initial values, what the host changes, what kernels change, and a pointer from one to another.
#include "check.h"

__managed__ int limit = 5;
__managed__ int values[3000] = {1, 2, 3};
__managed__ int *place;
__device__ int hidden = 7;

__global__ void fill() {
    for (int i = threadIdx.x; i < limit; i += blockDim.x) values[i] += 10 * i;
    __syncthreads();
    if (threadIdx.x == 0) *place += hidden;
}

int main() {
    DEMAND(limit == 5 && values[2] == 3 && values[2999] == 0);
    place = &values[2999];
    fill<<<1, 32>>>();
    CUDA(cudaDeviceSynchronize());
    DEMAND(values[0] == 1 && values[4] == 40 && values[5] == 0 && values[2999] == 7);
    limit = 3000;
    values[2998] = 1;
    fill<<<1, 64>>>();
    CUDA(cudaDeviceSynchronize());
    DEMAND(values[4] == 80 && values[2998] == 29981 && values[2999] == 29990 + 14);
    int copy[2];
    CUDA(cudaMemcpyFromSymbol(copy, values, sizeof copy, 2998 * sizeof(int)));
    DEMAND(copy[0] == 29981 && copy[1] == 30004);
    CUDA(cudaMemcpy(values, copy, sizeof copy, cudaMemcpyDefault));
    DEMAND(values[0] == 29981);
    std::printf("sum %d\n", copy[0] + copy[1]);
    return 0;
}
