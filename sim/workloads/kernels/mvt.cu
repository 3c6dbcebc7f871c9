// x1 += A * y1 and x2 += transpose(A) * y2, for a row-major matrix A of `n` x `n`. As in PolyBench/GPU, every sum lies in
// global memory: the pointers may alias, so each term stores it. Each sum has the first `terms` terms.

// One thread per row: neighbouring threads read addresses that lie a whole row apart.
extern "C" __global__ void mvt_rows(const float *a, float *x1, const float *y1, int n, int terms)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
#pragma unroll 16
        for (int column = 0; column < terms; column++)
            x1[row] += y1[column] * a[row * n + column];
    }
}

// One thread per column: neighbouring threads read neighbouring addresses.
extern "C" __global__ void mvt_columns(const float *a, float *x2, const float *y2, int n, int terms)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < n) {
        const float *at = a + column;
#pragma unroll 8
        for (int row = 0; row < terms; row++, at += n)
            x2[column] += y2[row] * *at;
    }
}
