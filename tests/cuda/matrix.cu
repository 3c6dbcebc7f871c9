// Tiled matrix products, one after the other, and the trace that the host takes.
#include "check.h"

__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[8][8], tb[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 8) {
        ta[y][x] = a[row * n + tile + x];
        tb[y][x] = b[(tile + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main() {
    const int n = 24;
    // A permutation: its 24th power is the identity.
    std::vector<float> values(n * n, 0), one(n * n, 0);
    for (int i = 0; i < n; i++) values[i * n + (i + 1) % n] = one[i * n + i] = 1;
    float *p = on_device(values), *a = on_device(one), *b;
    CUDA(cudaMalloc(&b, n * n * sizeof(float)));
    for (int power = 1; power <= n; power++) {
        multiply<<<dim3(3, 3), dim3(8, 8)>>>(a, p, b, n);
        std::swap(a, b);
        auto got = from_device(a, n * n);
        float trace = 0;
        for (int i = 0; i < n; i++) trace += got[i * n + i];
        DEMAND(trace == (power == n ? n : 0));
    }
    std::printf("the %dth power is the identity\n", n);
    return 0;
}
