// A fully connected layer of a neural network: forward sums, and the adjustment of its weights.
//
// The weights of input i (0 is the bias) to the hidden units 1 to 16 lie in row i of a matrix with 17 columns.
#define HIDDEN 16
#define WIDTH (HIDDEN + 1)

// Partial sums of 16 inputs for every hidden unit: a block of 16 x 16 threads per 16 inputs, by a tree in shared memory.
extern "C" __global__ void backprop_forward(const float *input, const float *weights, float *partial)
{
    __shared__ float products[HIDDEN][HIDDEN];
    int unit = threadIdx.x, row = threadIdx.y;
    int from = blockIdx.x * HIDDEN + row + 1;
    products[row][unit] = weights[from * WIDTH + unit + 1] * input[from];
    for (int half = HIDDEN / 2; half > 0; half /= 2) {
        __syncthreads();
        if (row < half)
            products[row][unit] += products[row + half][unit];
    }
    if (row == 0)
        partial[blockIdx.x * HIDDEN + unit] = products[0][unit];
}

// Every weight moves along its gradient, with some of its last move.
extern "C" __global__ void backprop_adjust(const float *input, const float *delta, float *weights, float *last)
{
    int unit = threadIdx.x + 1;
    int from = blockIdx.x * HIDDEN + threadIdx.y + 1;
    int at = from * WIDTH + unit;
    float move = 0.3f * delta[unit] * input[from] + 0.3f * last[at];
    weights[at] += move;
    last[at] = move;
}
