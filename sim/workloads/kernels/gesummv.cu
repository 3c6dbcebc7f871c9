// y = alpha * A * x + beta * B * x, for row-major matrices of `n` x `n`: one thread per row, two matrices at once. As in
// PolyBench/GPU, both sums lie in global memory: the pointers may alias, so each term loads and stores them. Each sum has
// the first `terms` terms; y and from_a are zero at first.
extern "C" __global__ void gesummv(const float *a, const float *b, const float *x, float *y, float *from_a, float alpha,
                                   float beta, int n, int terms)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
#pragma unroll 8
        for (int column = 0; column < terms; column++) {
            from_a[row] += x[column] * a[row * n + column];
            y[row] += x[column] * b[row * n + column];
        }
        y[row] = alpha * from_a[row] + beta * y[row];
    }
}
