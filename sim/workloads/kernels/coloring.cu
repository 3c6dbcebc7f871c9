// Graph colouring by independent sets, as in Pannotia. In each round the uncoloured nodes whose value is at least that of
// their uncoloured neighbours take the round's colour. One thread per node.
//
// The edges of node u are first[u] to first[u + 1]. A colour of -1 is none yet. A node with one edge ignores its
// neighbour.

extern "C" __global__ void coloring_look(int *first, int *target, int *value, int *color, int *again, int *highest,
                                         int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || color[node] != -1)
        return;
    int start = first[node], end = first[node + 1];
    int most = -1;
    for (int edge = start; edge < end; edge++) {
        if (color[target[edge]] == -1 && start != end - 1) {
            *again = 1;
            if (value[target[edge]] > most)
                most = value[target[edge]];
        }
    }
    highest[node] = most;
}

extern "C" __global__ void coloring_take(int *value, int *color, int *highest, int round, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes && color[node] == -1 && value[node] >= highest[node])
        color[node] = round;
}
