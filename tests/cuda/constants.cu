// Constants that the host changes between launches, in part and as a whole, and reads back.
#include "check.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__constant__ int shift = 5;
__device__ int calls = 100;

__global__ void apply(float *out) {
    int i = threadIdx.x;
    out[i] = weights[i % 4] * i + shift;
    if (i == 0) calls++;
}

static void run(float *out, const float *expected, int add) {
    apply<<<1, 8>>>(out);
    auto got = from_device(out, 8);
    for (int i = 0; i < 8; i++) DEMAND(got[i] == expected[i % 4] * i + add);
}

int main() {
    float *out;
    CUDA(cudaMalloc(&out, 8 * sizeof(float)));
    float expected[4] = {1, 2, 3, 4};
    run(out, expected, 5);
    float third = 9;
    CUDA(cudaMemcpyToSymbol(weights, &third, sizeof third, 2 * sizeof(float)));
    expected[2] = 9;
    run(out, expected, 5);
    int seven = 7;
    CUDA(cudaMemcpyToSymbol(shift, &seven, sizeof seven));
    float all[4] = {4, 3, 2, 1};
    void *address;
    CUDA(cudaGetSymbolAddress(&address, weights));
    CUDA(cudaMemcpy(address, all, sizeof all, cudaMemcpyHostToDevice));
    run(out, all, 7);
    float back[2];
    CUDA(cudaMemcpyFromSymbol(back, weights, sizeof back, sizeof(float)));
    DEMAND(back[0] == 3 && back[1] == 2);
    int counted;
    CUDA(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    size_t size;
    CUDA(cudaGetSymbolSize(&size, weights));
    std::printf("%d calls, %zu bytes of weights\n", counted - 100, size);
    return counted != 103 || size != 16;
}
