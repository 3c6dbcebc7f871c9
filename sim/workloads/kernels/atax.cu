// y = transpose(A) * (A * x), for a row-major matrix A whose rows have `pitch` columns. As in PolyBench/GPU, every sum lies
// in global memory: the pointers may alias, so each term stores it.

// product += A * x, one thread per row: neighbouring threads read addresses that lie a whole row apart. Each sum has the
// first `terms` terms.
extern "C" __global__ void atax_rows(const float *a, const float *x, float *product, int rows, int terms, int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
#pragma unroll 16
        for (int column = 0; column < terms; column++)
            product[row] += x[column] * a[row * pitch + column];
    }
}

// y += transpose(A) * product, one thread per column: neighbouring threads read neighbouring addresses.
extern "C" __global__ void atax_columns(const float *a, const float *product, float *y, int terms, int pitch)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < pitch) {
        const float *at = a + column;
#pragma unroll 8
        for (int row = 0; row < terms; row++, at += pitch)
            y[column] += product[row] * *at;
    }
}
