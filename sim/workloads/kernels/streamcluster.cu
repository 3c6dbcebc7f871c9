// How much would a new centre gain? Each thread compares what its point costs now with its distance from the candidate.
//
// Points are stored dimension by dimension. A point that would move over says so and gives its gain, a negative change.
extern "C" __global__ void streamcluster_gain(const float *points, const float *weight, const float *cost,
                                              const float *candidate, float *gain, int *moves, int count, int dimensions)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= count)
        return;
    float distance = 0.0f;
    for (int dimension = 0; dimension < dimensions; dimension++) {
        float difference = points[dimension * count + point] - candidate[dimension];
        distance += difference * difference;
    }
    float change = distance * weight[point] - cost[point];
    moves[point] = change < 0.0f;
    gain[point] = change < 0.0f ? change : 0.0f;
}
