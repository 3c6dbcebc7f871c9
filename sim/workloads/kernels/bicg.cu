// The two products of the biconjugate gradient method, for a row-major matrix A whose rows have `pitch` columns. As in
// PolyBench/GPU, every sum lies in global memory: the pointers may alias, so each term stores it. Each sum has the first
// `terms` terms.

// s = transpose(A) * r, one thread per column: neighbouring threads read neighbouring addresses.
extern "C" __global__ void bicg_columns(const float *a, const float *r, float *s, int terms, int pitch)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < pitch) {
        s[column] = 0.0f;
        const float *at = a + column;
#pragma unroll 8
        for (int row = 0; row < terms; row++, at += pitch)
            s[column] += r[row] * *at;
    }
}

// q = A * p, one thread per row: neighbouring threads read addresses that lie a whole row apart.
extern "C" __global__ void bicg_rows(const float *a, const float *p, float *q, int rows, int terms, int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        q[row] = 0.0f;
#pragma unroll 16
        for (int column = 0; column < terms; column++)
            q[row] += p[column] * a[row * pitch + column];
    }
}
