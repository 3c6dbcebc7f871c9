// Graph colouring by independent sets: in each round the uncoloured nodes whose priority is the highest among their
// uncoloured neighbours take the round's colour. One thread per node.
//
// The edges of node u are first[u] to first[u + 1]. A colour of -1 is none yet; `highest` is written first, so that all
// nodes of a round see the same colours.

extern "C" __global__ void coloring_look(const int *first, const int *target, const unsigned *priority, const int *color,
                                         unsigned *highest, int *again, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || color[node] != -1)
        return;
    *again = 1;
    unsigned most = 0;
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        int other = target[edge];
        if (other != node && color[other] == -1 && priority[other] > most)
            most = priority[other];
    }
    highest[node] = most;
}

extern "C" __global__ void coloring_take(const unsigned *priority, const unsigned *highest, int *color, int round, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && color[node] == -1 && priority[node] > highest[node])
        color[node] = round;
}
