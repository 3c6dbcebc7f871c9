// Global alignment of two sequences: the score matrix in tiles of 16 x 16, one anti-diagonal of tiles per launch.
#define TILE 16

// `score` is (n + 1) x (n + 1), its first row and column given; `similarity` has the same shape. Tile (x, y) of the
// launch's diagonal is (first + i, last - i). One thread per column of a tile.
extern "C" __global__ void needle_diagonal(const int *similarity, int *score, int n, int penalty, int first, int last)
{
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int alike[TILE][TILE];
    int thread = threadIdx.x;
    int left = (first + (int)blockIdx.x) * TILE;
    int top = (last - (int)blockIdx.x) * TILE;
    int width = n + 1;
    for (int row = 0; row < TILE; row++)
        alike[row][thread] = similarity[(top + row + 1) * width + left + thread + 1];
    if (thread == 0)
        tile[0][0] = score[top * width + left];
    tile[thread + 1][0] = score[(top + thread + 1) * width + left];
    tile[0][thread + 1] = score[top * width + left + thread + 1];
    __syncthreads();
    for (int diagonal = 0; diagonal < 2 * TILE - 1; diagonal++) {
        int row = diagonal - thread;
        if (row >= 0 && row < TILE) {
            int both = tile[row][thread] + alike[row][thread];
            int gap_above = tile[row][thread + 1] - penalty;
            int gap_left = tile[row + 1][thread] - penalty;
            int best = gap_above > gap_left ? gap_above : gap_left;
            tile[row + 1][thread + 1] = both > best ? both : best;
        }
        __syncthreads();
    }
    for (int row = 0; row < TILE; row++)
        score[(top + row + 1) * width + left + thread + 1] = tile[row + 1][thread + 1];
}
