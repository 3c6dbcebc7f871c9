// Convolution of an image with a mask of 17 values along its rows and then along its columns, through shared memory.
// The image's sides are multiples of the tiles'; pixels beyond an edge count as zero.
#define RADIUS 8
#define ROW_TILE 128
#define COLUMN_TILE_X 16
#define COLUMN_TILE_Y 48

extern "C" __global__ void convolution_rows(const float *from, const float *mask, float *to, int columns)
{
    __shared__ float line[ROW_TILE + 2 * RADIUS];
    int thread = threadIdx.x;
    int start = blockIdx.x * ROW_TILE;
    const float *row = from + blockIdx.y * columns;
    for (int at = thread; at < ROW_TILE + 2 * RADIUS; at += ROW_TILE) {
        int column = start + at - RADIUS;
        line[at] = column >= 0 && column < columns ? row[column] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += line[thread + k] * mask[k];
    to[blockIdx.y * columns + start + thread] = sum;
}

extern "C" __global__ void convolution_columns(const float *from, const float *mask, float *to, int rows,
                                               int columns)
{
    __shared__ float tile[COLUMN_TILE_Y + 2 * RADIUS][COLUMN_TILE_X];
    int x = threadIdx.x;
    int column = blockIdx.x * COLUMN_TILE_X + x;
    int start = blockIdx.y * COLUMN_TILE_Y;
    for (int at = threadIdx.y; at < COLUMN_TILE_Y + 2 * RADIUS; at += blockDim.y) {
        int row = start + at - RADIUS;
        tile[at][x] = row >= 0 && row < rows ? from[row * columns + column] : 0.0f;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < COLUMN_TILE_Y; y += blockDim.y) {
        float sum = 0.0f;
        for (int k = 0; k <= 2 * RADIUS; k++)
            sum += tile[y + k][x] * mask[k];
        to[(start + y) * columns + column] = sum;
    }
}
