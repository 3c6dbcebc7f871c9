// A shape that the built-in workloads have not: a function that is called, not inlined, and works on its caller's stack.
__device__ __attribute__((noinline)) int sort(int *numbers, int count)
{
    int moves = 0;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && numbers[j - 1] > numbers[j]; j--) {
            int swapped = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = swapped;
            moves++;
        }
    return moves;
}

// The median of `width` numbers around each one, and how many moves it took to sort them.
extern "C" __global__ void median(const int *in, int *out, int *moves, int count, int width)
{
    int window[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    for (int k = 0; k < width; k++)
        window[k] = in[(i + k) % count];
    moves[i] = sort(window, width);
    out[i] = window[width / 2];
}
