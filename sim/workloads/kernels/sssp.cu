// Single-source shortest paths by Bellman and Ford's relaxation, one thread per node, until nothing changes.
//
// The edges of node u are first[u] to first[u + 1]. A node's neighbours are offered the way through it.
extern "C" __global__ void sssp_relax(const int *first, const int *target, const int *weight, unsigned *distance,
                                      int *changed, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || distance[node] == 0xffffffffu)
        return;
    unsigned here = distance[node];
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        unsigned there = here + weight[edge];
        if (there < distance[target[edge]]) {
            __nvvm_atom_min_gen_ui(&distance[target[edge]], there);
            *changed = 1;
        }
    }
}
