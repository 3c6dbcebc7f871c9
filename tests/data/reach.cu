// Shapes that the built-in workloads have not: variables of the file itself, a structure as a parameter, numbers of one
// and two bytes, and a loop that the host ends by looking at a flag.
struct Limits {
    int first, last;
};

__device__ int changed;                 // did the last step reach a node?
__constant__ short reach[2];            // how far a step goes, down and up
__device__ unsigned char weights[4] = { 1, 2, 3, 4 };

// Marks the nodes that are one step away from a marked one.
extern "C" __global__ void spread(const unsigned char *from, unsigned char *to, Limits limits, short turn)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limits.first || i > limits.last)
        return;
    unsigned char mark = from[i];
    for (int k = reach[0]; k <= reach[1] && mark == 0; k++)
        if (i + k >= limits.first && i + k <= limits.last && from[i + k] != 0) {
            mark = weights[turn & 3];
            changed = 1;
        }
    to[i] = mark;
}
