// The layers of a network that recognises digits: convolutions by 5 x 5 weights at every second pixel, then fully connected
// layers. One image per block row, one thread per neuron.
#pragma clang fp contract(off)
#define EDGE 5
#define STRIDE 2

// 1.7159 tanh(2/3 x), which keeps signals of unit size at unit size.
__device__ static float squash(float x)
{
    float power = __nvvm_ex2_approx_f(x * 1.9235933f);
    return 1.7159f * ((power - 1.0f) / (power + 1.0f));
}

// Map m of a layer sees all maps of the layer before; its weights are a bias, then 25 for each map.
extern "C" __global__ void neural_net_convolve(const float *from, const float *weights, float *to, int from_maps,
                                               int from_side, int to_maps, int to_side)
{
    int neuron = threadIdx.x;
    if (neuron >= to_side * to_side)
        return;
    int image = blockIdx.y;
    const float *own = &weights[blockIdx.x * (1 + from_maps * EDGE * EDGE)];
    float sum = own[0];
    int corner = neuron / to_side * STRIDE * from_side + neuron % to_side * STRIDE;
    for (int map = 0; map < from_maps; map++) {
        const float *pixels = &from[(image * from_maps + map) * from_side * from_side + corner];
        for (int row = 0; row < EDGE; row++)
            for (int column = 0; column < EDGE; column++)
                sum = __builtin_fmaf(pixels[row * from_side + column],
                                     own[1 + map * EDGE * EDGE + row * EDGE + column], sum);
    }
    to[(image * to_maps + blockIdx.x) * to_side * to_side + neuron] = squash(sum);
}

extern "C" __global__ void neural_net_connect(const float *from, const float *weights, float *to, int from_neurons,
                                              int to_neurons)
{
    int neuron = blockIdx.x * blockDim.x + threadIdx.x;
    if (neuron >= to_neurons)
        return;
    int image = blockIdx.y;
    const float *own = &weights[neuron * (1 + from_neurons)];
    float sum = own[0];
    for (int other = 0; other < from_neurons; other++)
        sum = __builtin_fmaf(from[image * from_neurons + other], own[1 + other], sum);
    to[image * to_neurons + neuron] = squash(sum);
}
