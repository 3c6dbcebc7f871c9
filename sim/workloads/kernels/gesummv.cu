// y = alpha * A * x + beta * B * x, for row-major matrices of `n` x `n`: one thread per row, two matrices at once.
extern "C" __global__ void gesummv(const float *a, const float *b, const float *x, float *y, float alpha, float beta,
                                   int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float from_a = 0.0f;
        float from_b = 0.0f;
        for (int column = 0; column < n; column++) {
            from_a += a[row * n + column] * x[column];
            from_b += b[row * n + column] * x[column];
        }
        y[row] = alpha * from_a + beta * from_b;
    }
}

// A part of the work above with its addresses: the first `terms` terms of each sum.
extern "C" __global__ void gesummv_slice(const float *a, const float *b, const float *x, float *y, float alpha, float beta,
                                         int n, int terms)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float from_a = 0.0f;
        float from_b = 0.0f;
        for (int column = 0; column < terms; column++) {
            from_a += a[row * n + column] * x[column];
            from_b += b[row * n + column] * x[column];
        }
        y[row] = alpha * from_a + beta * from_b;
    }
}
