// Covariance matrix of `columns` variables as in PolyBench/GPU: row-major `data` and `matrix` start at row 1 and column 1, and
// a row has one element more than there are variables. Every sum lies in global memory: the pointers may alias, so each term
// stores it. Only the first `rows` samples are used.

// One thread per variable. The divisor is PolyBench's constant, not the number of samples.
extern "C" __global__ void covariance_mean(float *mean, const float *data, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (column <= columns) {
        const float *at = data + (columns + 1) + column;
        mean[column] = 0.0f;
#pragma unroll 16
        for (int row = 1; row <= rows; row++, at += columns + 1)
            mean[column] += *at;
        mean[column] /= 3214212.01f;
    }
}

// One thread per sample of a variable.
extern "C" __global__ void covariance_center(const float *mean, float *data, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (row <= rows && column <= columns) {
        float *value = data + row * (columns + 1) + column;
        *value = *value - mean[column];
    }
}

// One thread per variable, which pairs it with itself and later ones, at most `pairs`: the threads finish one after the other.
extern "C" __global__ void covariance_pairs(float *matrix, const float *data, int rows, int columns, int pairs)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (first <= columns) {
        for (int second = first; second <= columns && second < first + pairs; second++) {
            float *sum = matrix + first * (columns + 1) + second;
            const float *of_first = data + (columns + 1) + first;
            const float *of_second = data + (columns + 1) + second;
            *sum = 0.0f;
#pragma unroll 8
            for (int row = 1; row <= rows; row++, of_first += columns + 1, of_second += columns + 1)
                *sum += *of_second * *of_first;
            matrix[second * (columns + 1) + first] = *sum;
        }
    }
}
