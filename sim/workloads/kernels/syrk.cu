// C = alpha * A * transpose(A) + beta * C, for row-major A of `n` x `m`: one thread per element of the first `rows` rows of
// C. As in PolyBench/GPU, the sum lies in global memory: the pointers may alias, so each term stores it. Each sum has the
// first `terms` terms.
extern "C" __global__ void syrk(const float *a, float *c, float alpha, float beta, int n, int m, int rows, int terms)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < n) {
        c[row * n + column] *= beta;
#pragma unroll 8
        for (int k = 0; k < terms; k++)
            c[row * n + column] += alpha * a[row * m + k] * a[column * m + k];
    }
}
