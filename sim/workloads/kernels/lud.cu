// LU decomposition without pivots, in place and by tiles of 16 x 16: the diagonal tile, the tiles right of it and below
// it, then all others, over and over. The matrix is row-major with `n` columns, a multiple of a tile.
#define TILE 16

// One block of a tile's threads in a row. `start` is the first row and column of the diagonal tile.
extern "C" __global__ void lud_diagonal(float *a, int n, int start)
{
    __shared__ float tile[TILE][TILE];
    int thread = threadIdx.x;
    for (int row = 0; row < TILE; row++)
        tile[row][thread] = a[(start + row) * n + start + thread];
    __syncthreads();
    for (int k = 0; k < TILE - 1; k++) {
        if (thread > k)
            tile[thread][k] = tile[thread][k] / tile[k][k];
        __syncthreads();
        if (thread > k)
            for (int column = k + 1; column < TILE; column++)
                tile[thread][column] -= tile[thread][k] * tile[k][column];
        __syncthreads();
    }
    for (int row = 0; row < TILE; row++)
        a[(start + row) * n + start + thread] = tile[row][thread];
}

// A block per tile to the right, which the threads of its first half solve column by column, and the tile as far below,
// which those of the second half solve row by row.
extern "C" __global__ void lud_border(float *a, int n, int start)
{
    __shared__ float diagonal[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    int thread = threadIdx.x % TILE;
    int other = start + (blockIdx.x + 1) * TILE;
    bool first_half = threadIdx.x < TILE;
    for (int row = first_half ? 0 : 1; row < TILE; row += 2)
        diagonal[row][thread] = a[(start + row) * n + start + thread];
    if (first_half)
        for (int row = 0; row < TILE; row++)
            right[row][thread] = a[(start + row) * n + other + thread];
    else
        for (int row = 0; row < TILE; row++)
            below[row][thread] = a[(other + row) * n + start + thread];
    __syncthreads();
    if (first_half) {
        for (int row = 1; row < TILE; row++)
            for (int k = 0; k < row; k++)
                right[row][thread] -= diagonal[row][k] * right[k][thread];
    } else {
        for (int column = 0; column < TILE; column++) {
            for (int k = 0; k < column; k++)
                below[thread][column] -= below[thread][k] * diagonal[k][column];
            below[thread][column] = below[thread][column] / diagonal[column][column];
        }
    }
    __syncthreads();
    if (first_half)
        for (int row = 0; row < TILE; row++)
            a[(start + row) * n + other + thread] = right[row][thread];
    else
        for (int row = 0; row < TILE; row++)
            a[(other + row) * n + start + thread] = below[row][thread];
}

// A block per tile below and to the right of the borders, one thread per element.
extern "C" __global__ void lud_inside(float *a, int n, int start)
{
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = start + (blockIdx.y + 1) * TILE + y;
    int column = start + (blockIdx.x + 1) * TILE + x;
    right[y][x] = a[(start + y) * n + column];
    below[y][x] = a[row * n + start + x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < TILE; k++)
        sum += below[y][k] * right[k][x];
    a[row * n + column] -= sum;
}
