// y = transpose(A) * (A * x), for a row-major matrix A of `rows` x `columns`.

// product = A * x, one thread per row: neighbouring threads read addresses that lie a whole row apart.
extern "C" __global__ void atax_rows(const float *a, const float *x, float *product, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int column = 0; column < columns; column++)
            sum += a[row * columns + column] * x[column];
        product[row] = sum;
    }
}

// y = transpose(A) * product, one thread per column: neighbouring threads read neighbouring addresses.
extern "C" __global__ void atax_columns(const float *a, const float *product, float *y, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0f;
        for (int row = 0; row < rows; row++)
            sum += a[row * columns + column] * product[row];
        y[column] = sum;
    }
}

// product = the first `columns` columns of A times x, where a row has `pitch` columns: a part of the work above with its
// addresses.
extern "C" __global__ void atax_rows_slice(const float *a, const float *x, float *product, int rows, int columns,
                                           int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int column = 0; column < columns; column++)
            sum += a[row * pitch + column] * x[column];
        product[row] = sum;
    }
}
