// Covariance matrix of `columns` variables, of which row-major `data` holds `rows` samples.

// One thread per variable.
extern "C" __global__ void covariance_mean(const float *data, float *mean, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0f;
        for (int row = 0; row < rows; row++)
            sum += data[row * columns + column];
        mean[column] = sum / rows;
    }
}

// One thread per sample of a variable.
extern "C" __global__ void covariance_center(const float *mean, float *data, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        data[row * columns + column] -= mean[column];
}

// One thread per variable, which pairs it with every later one: the threads finish one after the other.
extern "C" __global__ void covariance_pairs(const float *data, float *matrix, int rows, int columns)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first < columns) {
        for (int second = first; second < columns; second++) {
            float sum = 0.0f;
            for (int row = 0; row < rows; row++)
                sum += data[row * columns + first] * data[row * columns + second];
            matrix[first * columns + second] = sum;
            matrix[second * columns + first] = sum;
        }
    }
}
