// A maximal independent set by Luby's method: in each round the undecided nodes whose priority is the lowest among
// their undecided neighbours join, and their neighbours stay out. One thread per node.
//
// The edges of node u are first[u] to first[u + 1]. States: 0 undecided, 1 in the set, 2 out, 3 joins in this round.

extern "C" __global__ void mis_join(const int *first, const int *target, const unsigned *priority, int *state, int *again,
                                    int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || state[node] != 0)
        return;
    *again = 1;
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        int other = target[edge];
        int others = state[other];
        if (other != node && (others == 0 || others == 3) && priority[other] < priority[node])
            return;
    }
    state[node] = 3;
}

extern "C" __global__ void mis_leave(const int *first, const int *target, int *state, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || state[node] != 3)
        return;
    state[node] = 1;
    for (int edge = first[node]; edge < first[node + 1]; edge++)
        if (target[edge] != node)
            state[target[edge]] = 2;
}
