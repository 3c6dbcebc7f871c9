// Betweenness centrality by Brandes' method from one source: levels and numbers of shortest paths outwards, then
// dependencies inwards, one thread per node and one launch per level.
//
// The edges of node u are first[u] to first[u + 1]. A level of -1 is not reached yet.

extern "C" __global__ void betweenness_outwards(const int *first, const int *target, int *level, unsigned *paths,
                                                int *again, int now, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now)
        return;
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        int next = target[edge];
        if (level[next] == -1) {
            level[next] = now + 1;
            *again = 1;
        }
        if (level[next] == now + 1)
            __nvvm_atom_add_gen_i((int *)&paths[next], (int)paths[node]);
    }
}

extern "C" __global__ void betweenness_inwards(const int *first, const int *target, const int *level,
                                               const unsigned *paths, float *dependency, float *centrality, int now,
                                               int source, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now)
        return;
    float sum = 0.0f;
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        int next = target[edge];
        if (level[next] == now + 1)
            sum += (float)paths[node] / (float)paths[next] * (1.0f + dependency[next]);
    }
    dependency[node] = sum;
    if (node != source)
        centrality[node] += sum;
}
