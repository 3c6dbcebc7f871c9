// The fast Walsh transform: butterflies of a growing stride, one launch per stride, one thread per butterfly.
extern "C" __global__ void walsh(float *data, int stride, int butterflies)
{
    int butterfly = blockIdx.x * blockDim.x + threadIdx.x;
    if (butterfly < butterflies) {
        int low = butterfly & (stride - 1);
        int first = 2 * (butterfly - low) + low;
        float a = data[first], b = data[first + stride];
        data[first] = a + b;
        data[first + stride] = a - b;
    }
}
