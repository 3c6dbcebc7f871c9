// Betweenness centrality by Brandes' method, source by source, as in Pannotia: levels and numbers of shortest paths
// outwards, then dependencies inwards, one thread per node and one launch per level.
//
// The edges of node u are first[u] to first[u + 1]; inwards, they are those of the reverse graph. A level of -1 is not
// reached yet.

extern "C" __global__ void betweenness_clear(float *centrality, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < nodes)
        centrality[node] = 0.0f;
}

extern "C" __global__ void betweenness_start(int source, int *level, float *dependency, float *paths, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    dependency[node] = 0.0f;
    paths[node] = node == source ? 1.0f : 0.0f;
    level[node] = node == source ? 0 : -1;
}

extern "C" __global__ void betweenness_outwards(int *first, int *target, int *level, float *paths, int *again, int nodes,
                                                int now)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now)
        return;
    int end = first[node + 1];
    for (int edge = first[node]; edge < end; edge++) {
        int next = target[edge];
        if (level[next] < 0) {
            *again = 1;
            level[next] = now + 1;
        }
        if (level[next] == now + 1)
            __nvvm_atom_add_gen_f(&paths[next], paths[node]);
    }
}

extern "C" __global__ void betweenness_inwards(int *first, int *target, int *level, float *paths, float *dependency,
                                               int nodes, int now, int source, float *centrality)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now)
        return;
    int end = first[node + 1];
    for (int edge = first[node]; edge < end; edge++) {
        int nearer = target[edge];
        if (level[nearer] == now - 1)
            __nvvm_atom_add_gen_f(&dependency[nearer], paths[nearer] / paths[node] * (1.0f + dependency[node]));
    }
    if (node != source)
        centrality[node] += dependency[node];
}
