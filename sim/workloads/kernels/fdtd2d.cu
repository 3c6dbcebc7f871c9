// One time step of a finite-difference time-domain method in two dimensions, in three kernels: electric field along y and
// along x, then the magnetic field. All fields are row-major with `columns` columns; one thread per cell.

extern "C" __global__ void fdtd2d_ey(const float *source, float *ey, const float *hz, int step, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        int cell = row * columns + column;
        ey[cell] = row == 0 ? source[step] : ey[cell] - 0.5f * (hz[cell] - hz[cell - columns]);
    }
}

extern "C" __global__ void fdtd2d_ex(float *ex, const float *hz, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column > 0 && column < columns) {
        int cell = row * columns + column;
        ex[cell] = ex[cell] - 0.5f * (hz[cell] - hz[cell - 1]);
    }
}

extern "C" __global__ void fdtd2d_hz(const float *ex, const float *ey, float *hz, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows - 1 && column < columns - 1) {
        int cell = row * columns + column;
        hz[cell] = hz[cell] - 0.7f * (ex[cell + 1] - ex[cell] + ey[cell + columns] - ey[cell]);
    }
}
