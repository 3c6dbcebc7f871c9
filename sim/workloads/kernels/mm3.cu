// C += A * B, for row-major matrices of `n` x `n`: one thread per element of C. As in PolyBench/GPU, the sum lies in global
// memory: the pointers may alias, so each term stores it.
extern "C" __global__ void mm3(const float *a, const float *b, float *c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        const float *of_b = b + column;
#pragma unroll 8
        for (int k = 0; k < n; k++, of_b += n)
            c[row * n + column] += *of_b * a[row * n + k];
    }
}
