// Survey propagation on a formula of clauses with three literals each: messages from clauses to their literals, the
// variables' biases, and the fixing of the most biased variables.
//
// Literal l belongs to clause l / 3; variable[l] is its variable and negated[l] tells whether it is negated. The literals
// of variable v are literal[first[v]] to literal[first[v + 1]]. A variable is free (0), true (1) or false (2).
#pragma clang fp contract(off)

// Per variable, how likely no clause warns it through its plain literals, and none through its negated ones.
extern "C" __global__ void survey_variables(const int *first, const int *literal, const int *negated,
                                            const int *satisfied, const float *survey, float *plain_free,
                                            float *negated_free, int variables)
{
    int variable = blockIdx.x * blockDim.x + threadIdx.x;
    if (variable >= variables)
        return;
    float plain = 1.0f, opposite = 1.0f;
    for (int at = first[variable]; at < first[variable + 1]; at++) {
        int l = literal[at];
        if (satisfied[l / 3])
            continue;
        float none = 1.0f - survey[l];
        if (negated[l])
            opposite *= none;
        else
            plain *= none;
    }
    plain_free[variable] = plain;
    negated_free[variable] = opposite;
}

// A clause warns a literal as likely as its other two literals are both forced the other way.
extern "C" __global__ void survey_clauses(const int *variable, const int *negated, const int *satisfied,
                                          const int *value, const float *plain_free, const float *negated_free,
                                          float *survey, int *change, int clauses)
{
    int clause = blockIdx.x * blockDim.x + threadIdx.x;
    if (clause >= clauses || satisfied[clause])
        return;
    float forced[3];
    for (int place = 0; place < 3; place++) {
        int l = 3 * clause + place;
        int v = variable[l];
        // A fixed variable that did not satisfy the clause has made this literal false.
        if (value[v] != 0) {
            forced[place] = 1.0f;
            continue;
        }
        float same = negated[l] ? negated_free[v] : plain_free[v];
        float other = negated[l] ? plain_free[v] : negated_free[v];
        same = same / (1.0f - survey[l]);
        float against = (1.0f - other) * same;
        float sum = against + (1.0f - same) * other + same * other;
        forced[place] = sum > 0.0f ? against / sum : 0.0f;
    }
    for (int place = 0; place < 3; place++) {
        int l = 3 * clause + place;
        if (value[variable[l]] != 0)
            continue;
        float warning = forced[(place + 1) % 3] * forced[(place + 2) % 3];
        warning = warning < 0.999f ? warning : 0.999f;
        float moved = warning - survey[l];
        moved = moved < 0.0f ? -moved : moved;
        survey[l] = warning;
        // Floats that are not negative are ordered as the integers of their bits.
        __nvvm_atom_max_gen_i(change, __builtin_bit_cast(int, moved));
    }
}

// How much more likely each free variable is to be true (positive) or false (negative).
extern "C" __global__ void survey_bias(const int *value, const float *plain_free, const float *negated_free,
                                       float *bias, int variables)
{
    int variable = blockIdx.x * blockDim.x + threadIdx.x;
    if (variable >= variables)
        return;
    float plain = plain_free[variable], opposite = negated_free[variable];
    float to_true = (1.0f - plain) * opposite;
    float to_false = (1.0f - opposite) * plain;
    float sum = to_true + to_false + plain * opposite;
    bias[variable] = value[variable] == 0 && sum > 0.0f ? (to_true - to_false) / sum : 0.0f;
}

// Fixes the free variables whose bias reaches the threshold and marks the clauses that this satisfies.
extern "C" __global__ void survey_fix(const int *first, const int *literal, const int *negated, const float *bias,
                                      int *value, int *satisfied, float threshold, int variables)
{
    int variable = blockIdx.x * blockDim.x + threadIdx.x;
    if (variable >= variables || value[variable] != 0)
        return;
    float strength = bias[variable];
    bool is_true = strength > 0.0f;
    strength = is_true ? strength : -strength;
    if (strength < threshold)
        return;
    value[variable] = is_true ? 1 : 2;
    for (int at = first[variable]; at < first[variable + 1]; at++)
        if (negated[literal[at]] != (int)is_true)
            satisfied[literal[at] / 3] = 1;
}
