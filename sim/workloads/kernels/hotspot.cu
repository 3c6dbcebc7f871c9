// Temperatures on a chip: explicit time steps of the heat equation on a grid, several steps per launch.

#define TILE 16

// Each block loads a tile of TILE x TILE cells and computes `steps` time steps in shared memory. With each step the
// cells whose neighbours are still known shrink by one on every side, so the tiles overlap by a halo of `steps` cells
// and a block yields (TILE - 2 * steps)^2 results. Beyond the chip's edge the temperature is that of the edge.
// `rx`, `ry`, `rz` are thermal conductances along a row, along a column and to the ambient; `scale` is the time step
// over a cell's heat capacity.
extern "C" __global__ void hotspot(const float *power, const float *before, float *after, int rows, int columns,
                                   int steps, float scale, float rx, float ry, float rz, float ambient)
{
    __shared__ float temperature[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int useful = TILE - 2 * steps;
    int column = (int)blockIdx.x * useful - steps + tx;
    int row = (int)blockIdx.y * useful - steps + ty;
    bool on_chip = row >= 0 && row < rows && column >= 0 && column < columns;
    int cell = row * columns + column;

    float heat = 0.0f;
    if (on_chip) {
        temperature[ty][tx] = before[cell];
        heat = power[cell];
    }
    __syncthreads();

    int west = column == 0 ? tx : tx - 1;
    int east = column == columns - 1 ? tx : tx + 1;
    int north = row == 0 ? ty : ty - 1;
    int south = row == rows - 1 ? ty : ty + 1;

    for (int step = 1; step <= steps; step++) {
        bool known = on_chip && tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        float next = 0.0f;
        if (known) {
            float here = temperature[ty][tx];
            next = here + scale * (heat + (temperature[south][tx] + temperature[north][tx] - 2.0f * here) * ry
                                   + (temperature[ty][east] + temperature[ty][west] - 2.0f * here) * rx
                                   + (ambient - here) * rz);
        }
        __syncthreads();
        if (known)
            temperature[ty][tx] = next;
        __syncthreads();
    }

    if (on_chip && tx >= steps && tx < TILE - steps && ty >= steps && ty < TILE - steps)
        after[cell] = temperature[ty][tx];
}
