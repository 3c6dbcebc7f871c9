// The cheapest way down a grid, in which each step goes straight down or to a neighbouring column.
//
// A block takes `steps` rows at once, from the costs of the row above: at its edges its results become wrong by one
// column per row, so blocks overlap by that many columns (`halo`) on each side.
#define BLOCK 256

extern "C" __global__ void pathfinder(const int *wall, const int *from, int *to, int first_row, int steps, int columns,
                                      int halo)
{
    __shared__ int costs[BLOCK];
    __shared__ int better[BLOCK];
    int thread = threadIdx.x;
    int column = (int)blockIdx.x * (BLOCK - 2 * halo) - halo + thread;
    bool inside = column >= 0 && column < columns;
    int west = thread > 0 && column > 0 ? thread - 1 : thread;
    int east = thread < BLOCK - 1 && column < columns - 1 ? thread + 1 : thread;
    if (inside)
        costs[thread] = from[column];
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (inside) {
            int least = costs[thread];
            least = costs[west] < least ? costs[west] : least;
            least = costs[east] < least ? costs[east] : least;
            better[thread] = least + wall[(first_row + step) * columns + column];
        }
        __syncthreads();
        if (inside)
            costs[thread] = better[thread];
        __syncthreads();
    }
    if (inside && thread >= halo && thread < BLOCK - halo)
        to[column] = costs[thread];
}
