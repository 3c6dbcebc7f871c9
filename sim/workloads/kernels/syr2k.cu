// C = alpha * (A * transpose(B) + B * transpose(A)) + beta * C, for row-major A and B of `n` x `m`: one thread per
// element of C.
extern "C" __global__ void syr2k(const float *a, const float *b, float *c, float alpha, float beta, int n, int m)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        float sum = c[row * n + column] * beta;
        for (int k = 0; k < m; k++)
            sum += alpha * (a[row * m + k] * b[column * m + k] + b[row * m + k] * a[column * m + k]);
        c[row * n + column] = sum;
    }
}

// A part of the work above with its addresses: the first `rows` rows of C and the first `terms` terms of each sum.
extern "C" __global__ void syr2k_slice(const float *a, const float *b, float *c, float alpha, float beta, int n, int m,
                                       int rows, int terms)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < n) {
        float sum = c[row * n + column] * beta;
        for (int k = 0; k < terms; k++)
            sum += alpha * (a[row * m + k] * b[column * m + k] + b[row * m + k] * a[column * m + k]);
        c[row * n + column] = sum;
    }
}
