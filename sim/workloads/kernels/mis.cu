// A maximal independent set, as in Pannotia. In each round the undecided nodes whose value is at most that of their
// undecided neighbours join, and their neighbours stay out. One thread per node.
//
// The edges of node u are first[u] to first[u + 1]. States: -1 undecided, -2 decided. `later` holds the states of the
// next round.

extern "C" __global__ void mis_start(int *set, int *state, int *later, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    state[node] = -1;
    later[node] = -1;
    set[node] = 0;
}

extern "C" __global__ void mis_look(int *first, int *target, int *value, int *state, int *least, int *again, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || state[node] != -1)
        return;
    *again = 1;
    int end = first[node + 1];
    int lowest = 99999999;
    for (int edge = first[node]; edge < end; edge++)
        if (state[target[edge]] == -1 && value[target[edge]] < lowest)
            lowest = value[target[edge]];
    least[node] = lowest;
}

extern "C" __global__ void mis_join(int *first, int *target, int *value, int *set, int *state, int *later, int *least,
                                    int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || value[node] > least[node] || state[node] != -1)
        return;
    set[node] = 2;
    int end = first[node + 1];
    state[node] = -2;
    for (int edge = first[node]; edge < end; edge++)
        if (state[target[edge]] == -1)
            later[target[edge]] = -2;
}

extern "C" __global__ void mis_leave(int *later, int *state, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && later[node] == -2)
        state[node] = -2;
}
