// How alike are documents? Scalar products of all pairs of feature vectors, one thread per pair, divided by the
// vectors' lengths.
extern "C" __global__ void similarity(const float *features, const float *norm, float *score, int documents, int dimensions)
{
    int second = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * blockDim.y + threadIdx.y;
    if (first < documents && second < documents) {
        float sum = 0.0f;
        for (int k = 0; k < dimensions; k++)
            sum += features[first * dimensions + k] * features[second * dimensions + k];
        score[first * documents + second] = sum / (norm[first] * norm[second]);
    }
}
