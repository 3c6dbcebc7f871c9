// x1 += A * y1 and x2 += transpose(A) * y2, for a row-major matrix A of `n` x `n`.

// One thread per row: neighbouring threads read addresses that lie a whole row apart.
extern "C" __global__ void mvt_rows(const float *a, const float *y1, float *x1, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = x1[row];
        for (int column = 0; column < n; column++)
            sum += a[row * n + column] * y1[column];
        x1[row] = sum;
    }
}

// One thread per column: neighbouring threads read neighbouring addresses.
extern "C" __global__ void mvt_columns(const float *a, const float *y2, float *x2, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < n) {
        float sum = x2[column];
        for (int row = 0; row < n; row++)
            sum += a[row * n + column] * y2[row];
        x2[column] = sum;
    }
}

// Parts of the work above with its addresses: the first `terms` terms of each sum.
extern "C" __global__ void mvt_rows_slice(const float *a, const float *y1, float *x1, int n, int terms)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = x1[row];
        for (int column = 0; column < terms; column++)
            sum += a[row * n + column] * y1[column];
        x1[row] = sum;
    }
}

extern "C" __global__ void mvt_columns_slice(const float *a, const float *y2, float *x2, int n, int terms)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < n) {
        float sum = x2[column];
        for (int row = 0; row < terms; row++)
            sum += a[row * n + column] * y2[row];
        x2[column] = sum;
    }
}
