// One Jacobi step of Laplace's equation in a box: each inner point becomes the mean of its six neighbours. A block takes
// a column of tiles through all planes and keeps the current plane in shared memory, with a border.
#define TILE_X 32
#define TILE_Y 4

extern "C" __global__ void laplace(const float *from, float *to, int nx, int ny, int nz)
{
    __shared__ float plane[TILE_Y + 2][TILE_X + 2];
    int x = blockIdx.x * TILE_X + threadIdx.x;
    int y = blockIdx.y * TILE_Y + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool in = x < nx && y < ny;
    bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    int layer = nx * ny, here = y * nx + x;
    float below = 0.0f, centre = in ? from[here] : 0.0f;
    if (in)
        to[here] = centre;
    float above = in ? from[here + layer] : 0.0f;
    for (int z = 1; z < nz - 1; z++) {
        here += layer;
        below = centre;
        centre = above;
        if (in) {
            above = from[here + layer];
            plane[ty][tx] = centre;
            if (threadIdx.x == 0 && x > 0)
                plane[ty][0] = from[here - 1];
            if (threadIdx.x == TILE_X - 1 && x < nx - 1)
                plane[ty][TILE_X + 1] = from[here + 1];
            if (threadIdx.y == 0 && y > 0)
                plane[0][tx] = from[here - nx];
            if (threadIdx.y == TILE_Y - 1 && y < ny - 1)
                plane[TILE_Y + 1][tx] = from[here + nx];
        }
        __syncthreads();
        if (in) {
            float sum = plane[ty][tx - 1] + plane[ty][tx + 1];
            sum = sum + plane[ty - 1][tx] + plane[ty + 1][tx];
            sum = sum + below + above;
            to[here] = inner ? sum * (1.0f / 6.0f) : centre;
        }
        __syncthreads();
    }
    if (in)
        to[here + layer] = above;
}
