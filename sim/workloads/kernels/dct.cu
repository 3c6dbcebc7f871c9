// Discrete cosine transform of an image in blocks of 8 x 8, each by a CTA of as many threads: rows, then columns.
#define SIDE 8

extern "C" __global__ void dct(const float *image, const float *cosines, float *result, int columns)
{
    __shared__ float pixels[SIDE][SIDE];
    __shared__ float half_done[SIDE][SIDE];
    __shared__ float basis[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int at = (blockIdx.y * SIDE + y) * columns + blockIdx.x * SIDE + x;
    basis[y][x] = cosines[y * SIDE + x];
    pixels[y][x] = image[at] - 128.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += pixels[y][k] * basis[x][k];
    half_done[y][x] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += half_done[k][x] * basis[y][k];
    result[at] = sum;
}
