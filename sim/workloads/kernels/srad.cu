// One step of speckle-reducing anisotropic diffusion of an image, in two kernels: diffusion coefficients, then the update.
//
// Pixels beyond an edge are taken to be as bright as those at the edge. One thread per pixel.

extern "C" __global__ void srad_coefficients(const float *image, float *coefficient, float *north, float *south,
                                             float *west, float *east, float q0_squared, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    int at = row * columns + column;
    float here = image[at];
    float n = image[row > 0 ? at - columns : at] - here;
    float s = image[row < rows - 1 ? at + columns : at] - here;
    float w = image[column > 0 ? at - 1 : at] - here;
    float e = image[column < columns - 1 ? at + 1 : at] - here;
    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
    float denominator = 1.0f + 0.25f * laplacian;
    float q_squared = numerator / (denominator * denominator);
    float excess = (q_squared - q0_squared) / (q0_squared * (1.0f + q0_squared));
    float c = 1.0f / (1.0f + excess);
    coefficient[at] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
    north[at] = n;
    south[at] = s;
    west[at] = w;
    east[at] = e;
}

extern "C" __global__ void srad_update(float *image, const float *coefficient, const float *north, const float *south,
                                       const float *west, const float *east, float lambda, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns)
        return;
    int at = row * columns + column;
    float here = coefficient[at];
    float below = coefficient[row < rows - 1 ? at + columns : at];
    float right = coefficient[column < columns - 1 ? at + 1 : at];
    float divergence = here * north[at] + below * south[at] + here * west[at] + right * east[at];
    image[at] = image[at] + 0.25f * lambda * divergence;
}
