// Breadth-first search by worklists: a launch per level, one thread per node of the level, which puts the nodes that it is
// the first to reach on the list of the next level.
//
// The edges of node u are first[u] to first[u + 1].
extern "C" __global__ void bfs_worklist(const int *first, const int *target, const int *list, int *level, int *next,
                                        int *next_count, int depth, int count)
{
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= count)
        return;
    int node = list[place];
    for (int edge = first[node]; edge < first[node + 1]; edge++) {
        int other = target[edge];
        if (level[other] < 0 && __nvvm_atom_cas_gen_i(&level[other], -1, depth + 1) == -1)
            next[__nvvm_atom_add_gen_i(next_count, 1)] = other;
    }
}
