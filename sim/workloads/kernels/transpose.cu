// The transpose of a row-major matrix whose sides are multiples of 16, tile by tile through shared memory, so that reads
// and writes are of whole rows. The tile has a column to spare: its columns then lie in different banks.
#define TILE 16

extern "C" __global__ void transpose(const float *from, float *to, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns)
        tile[threadIdx.y][threadIdx.x] = from[row * columns + column];
    __syncthreads();
    int to_column = blockIdx.y * TILE + threadIdx.x;
    int to_row = blockIdx.x * TILE + threadIdx.y;
    if (to_row < columns && to_column < rows)
        to[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}
