// One step of the Jacobi method on a square of n x n points: each inner point becomes a weighted sum of itself and its
// four neighbours; points on the border stay as they are.
__constant__ float weights[2]; // of the point itself and of a neighbour

extern "C" __global__ void jacobi(const float *from, float *to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int here = y * n + x;
    float around = from[here - 1] + from[here + 1] + from[here - n] + from[here + n];
    to[here] = weights[0] * from[here] + weights[1] * around;
}

// Whether a step still changes a point by more than `most`.
extern "C" __global__ void moved(const float *from, const float *to, int *flag, float most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n && __builtin_fabsf(to[i] - from[i]) > most)
        *flag = 1;
}
