// y = A x for a sparse matrix in jagged diagonals, one thread per row.
//
// Rows are sorted by falling length; row r of that order is row order[r] of the matrix. Diagonal d holds the d-th entry of
// every row that has one, in the rows' order, from diagonal[d] on.
extern "C" __global__ void spmv_jds(const int *diagonal, const int *length, const int *order, const int *column,
                                    const float *value, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int d = 0; d < length[row]; d++) {
            int entry = diagonal[d] + row;
            sum += value[entry] * x[column[entry]];
        }
        y[order[row]] = sum;
    }
}
