// One step of speckle-reducing anisotropic diffusion of an image, in two kernels that work on tiles in shared memory.
//
// Pixels beyond an edge are taken to be as bright as those at the edge. One thread per pixel; blocks are as large as a tile.
#pragma clang fp contract(off)
#define TILE 16

extern "C" __global__ void srad_tiled_coefficients(const float *image, float *coefficient, float *north, float *south,
                                                   float *west, float *east, float q0_squared, int rows, int columns)
{
    __shared__ float tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    bool inside = row < rows && column < columns;
    int at = row * columns + column;
    float here = inside ? image[at] : 0.0f;
    tile[y][x] = here;
    __syncthreads();
    if (!inside)
        return;
    // Neighbours in the tile come from shared memory, those in other tiles from the image.
    float n = (row == 0 ? here : y > 0 ? tile[y - 1][x] : image[at - columns]) - here;
    float s = (row == rows - 1 ? here : y < TILE - 1 ? tile[y + 1][x] : image[at + columns]) - here;
    float w = (column == 0 ? here : x > 0 ? tile[y][x - 1] : image[at - 1]) - here;
    float e = (column == columns - 1 ? here : x < TILE - 1 ? tile[y][x + 1] : image[at + 1]) - here;
    float squares = __builtin_fmaf(e, e, __builtin_fmaf(w, w, __builtin_fmaf(n, n, s * s)));
    float gradient = squares / (here * here);
    float laplacian = (n + s + w + e) / here;
    float numerator = __builtin_fmaf(gradient, 0.5f, laplacian * laplacian * -0.0625f);
    float denominator = __builtin_fmaf(laplacian, 0.25f, 1.0f);
    float q_squared = numerator / (denominator * denominator);
    float excess = (q_squared - q0_squared) / ((q0_squared + 1.0f) * q0_squared);
    float c = 1.0f / (1.0f + excess);
    coefficient[at] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
    north[at] = n;
    south[at] = s;
    west[at] = w;
    east[at] = e;
}

extern "C" __global__ void srad_tiled_update(float *image, const float *coefficient, const float *north,
                                             const float *south, const float *west, const float *east, float lambda,
                                             int rows, int columns)
{
    __shared__ float tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    bool inside = row < rows && column < columns;
    int at = row * columns + column;
    float here = inside ? coefficient[at] : 0.0f;
    tile[y][x] = here;
    __syncthreads();
    if (!inside)
        return;
    float below = row == rows - 1 ? here : y < TILE - 1 ? tile[y + 1][x] : coefficient[at + columns];
    float right = column == columns - 1 ? here : x < TILE - 1 ? tile[y][x + 1] : coefficient[at + 1];
    float divergence = __builtin_fmaf(here, north[at], below * south[at]);
    divergence = __builtin_fmaf(right, east[at], __builtin_fmaf(here, west[at], divergence));
    image[at] = __builtin_fmaf(lambda * 0.25f, divergence, image[at]);
}
