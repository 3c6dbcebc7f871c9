// One time step of a finite-difference time-domain method in two dimensions, in three kernels: electric field along y and
// along x, then the magnetic field; one thread per cell. The fields are row-major with `columns` columns. As in PolyBench/GPU,
// ex has one column more, and ey one row more.

extern "C" __global__ void fdtd2d_ey(const float *source, float *ey, const float *hz, int step, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        int cell = row * columns + column;
        if (row == 0) {
            ey[cell] = source[step];
        } else {
            float before = hz[cell - columns];
            ey[cell] -= 0.5f * (hz[cell] - before);
        }
    }
}

extern "C" __global__ void fdtd2d_ex(float *ex, const float *hz, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns && column > 0) {
        int cell = row * columns + column;
        int wide = row * (columns + 1) + column;
        float before = hz[cell - 1];
        ex[wide] -= 0.5f * (hz[cell] - before);
    }
}

extern "C" __global__ void fdtd2d_hz(const float *ex, const float *ey, float *hz, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        int cell = row * columns + column;
        int wide = row * (columns + 1) + column;
        float before = ex[wide];
        hz[cell] -= 0.7f * (ex[wide + 1] - before + ey[cell + columns] - ey[cell]);
    }
}
