// Convolution of a row-major image with a fixed 3 x 3 mask, the outermost pixels left out: one thread per pixel.
extern "C" __global__ void conv2d(const float *image, float *result, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row > 0 && row < rows - 1 && column > 0 && column < columns - 1) {
        const float *above = image + (row - 1) * columns + column;
        const float *here = above + columns;
        const float *below = here + columns;
        float sum = 0.2f * above[-1];
        sum += 0.5f * above[0];
        sum += -0.8f * above[1];
        sum += -0.3f * here[-1];
        sum += 0.6f * here[0];
        sum += -0.9f * here[1];
        sum += 0.4f * below[-1];
        sum += 0.7f * below[0];
        sum += 0.1f * below[1];
        result[row * columns + column] = sum;
    }
}
