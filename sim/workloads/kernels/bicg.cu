// The two products of the biconjugate gradient method, for a row-major matrix A of `rows` x `columns`.

// s = transpose(A) * r, one thread per column: neighbouring threads read neighbouring addresses.
extern "C" __global__ void bicg_columns(const float *a, const float *r, float *s, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0f;
        for (int row = 0; row < rows; row++)
            sum += r[row] * a[row * columns + column];
        s[column] = sum;
    }
}

// q = A * p, one thread per row: neighbouring threads read addresses that lie a whole row apart.
extern "C" __global__ void bicg_rows(const float *a, const float *p, float *q, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int column = 0; column < columns; column++)
            sum += a[row * columns + column] * p[column];
        q[row] = sum;
    }
}

// q = the first `columns` columns of A times p, where a row has `pitch` columns: a part of the work above with its
// addresses.
extern "C" __global__ void bicg_rows_slice(const float *a, const float *p, float *q, int rows, int columns, int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int column = 0; column < columns; column++)
            sum += a[row * pitch + column] * p[column];
        q[row] = sum;
    }
}
