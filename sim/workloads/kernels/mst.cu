// A minimum spanning forest by Boruvka's method: in each round every component joins another one by its lightest edge
// that leaves it. One thread per node.
//
// The edges of node u are first[u] to first[u + 1]; both directions of an edge have the same number, the ends of edge e
// are ends[2 * e] and ends[2 * e + 1]. A component is named by one of its nodes.
typedef unsigned long long Key;
#define NONE 0xffffffffffffffffull

// An edge's key: its weight, then its number, so that no two edges are equally light.
extern "C" __global__ void mst_lightest(const int *first, const int *target, const unsigned *weight,
                                        const unsigned *edge, const int *component, Key *best, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    int own = component[node];
    Key lightest = NONE;
    for (int at = first[node]; at < first[node + 1]; at++) {
        if (component[target[at]] == own)
            continue;
        Key key = (Key)weight[at] << 32 | edge[at];
        lightest = key < lightest ? key : lightest;
    }
    if (lightest < best[own])
        __nvvm_atom_min_gen_ull(&best[own], lightest);
}

// The nodes that name components act for them. Two components that choose the same edge join once.
extern "C" __global__ void mst_join(const int *ends, const int *component, const Key *best, int *parent,
                                    unsigned *chosen, unsigned *total, int *again, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || component[node] != node || best[node] == NONE)
        return;
    Key key = best[node];
    unsigned edge = (unsigned)key;
    int other = component[ends[2 * edge]];
    if (other == node)
        other = component[ends[2 * edge + 1]];
    if (best[other] == key && node < other)
        return;
    parent[node] = other;
    chosen[edge] = 1;
    __nvvm_atom_add_gen_i((int *)total, (int)(key >> 32));
    *again = 1;
}

// Every node follows the joins to the name of its new component.
extern "C" __global__ void mst_flatten(const int *parent, int *component, Key *best, int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    int name = component[node];
    while (parent[name] != name)
        name = parent[name];
    component[node] = name;
    best[node] = NONE;
}
