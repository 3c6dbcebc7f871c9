// y = A x for a sparse matrix in compressed rows, one thread per row.
//
// The entries of row r are first[r] to first[r + 1].

extern "C" __global__ void spmv(const int *first, const int *column, const float *value, const float *x,
                                               float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int entry = first[row]; entry < first[row + 1]; entry++)
            sum += value[entry] * x[column[entry]];
        y[row] = sum;
    }
}
