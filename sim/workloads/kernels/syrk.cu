// C = alpha * A * transpose(A) + beta * C, for row-major A of `n` x `m`: one thread per element of C.
extern "C" __global__ void syrk(const float *a, float *c, float alpha, float beta, int n, int m)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        float sum = c[row * n + column] * beta;
        for (int k = 0; k < m; k++)
            sum += alpha * a[row * m + k] * a[column * m + k];
        c[row * n + column] = sum;
    }
}

// A part of the work above with its addresses: the first `rows` rows of C and the first `terms` terms of each sum.
extern "C" __global__ void syrk_slice(const float *a, float *c, float alpha, float beta, int n, int m, int rows, int terms)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < n) {
        float sum = c[row * n + column] * beta;
        for (int k = 0; k < terms; k++)
            sum += alpha * a[row * m + k] * a[column * m + k];
        c[row * n + column] = sum;
    }
}
