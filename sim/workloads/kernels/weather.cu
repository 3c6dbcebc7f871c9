// A step of a small weather model: winds carry temperature and water along, then each column of air condenses cloud, makes
// rain of it and lets the rain fall. One thread per column; level 0 is the ground's.
#pragma clang fp contract(off)

// A field's new values: what the wind brings from upwind, and some mixing with all six neighbours. The plane is closed
// like a ring in both directions.
extern "C" __global__ void weather_carry(const float *from, const float *east_wind, const float *north_wind, float *to,
                                         float mixing, int columns, int rows, int levels)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int plane = columns * rows;
    int here = row * columns + column;
    int west = column > 0 ? here - 1 : here + columns - 1;
    int east = column < columns - 1 ? here + 1 : here - columns + 1;
    int south = row > 0 ? here - columns : here + plane - columns;
    int north = row < rows - 1 ? here + columns : here - plane + columns;
    for (int level = 0; level < levels; level++) {
        const float *field = &from[level * plane];
        float value = field[here];
        float below = level > 0 ? field[here - plane] : value;
        float above = level < levels - 1 ? field[here + plane] : value;
        float u = east_wind[level * plane + here], v = north_wind[level * plane + here];
        float along = u > 0.0f ? value - field[west] : field[east] - value;
        float across = v > 0.0f ? value - field[south] : field[north] - value;
        float around = field[west] + field[east] + field[south] + field[north] + below + above;
        float carried = value - u * along - v * across;
        to[level * plane + here] = __builtin_fmaf(mixing, around - 6.0f * value, carried);
    }
}

// Temperatures are in kelvins; vapour, cloud and rain in grams per kilogram of air.
extern "C" __global__ void weather_water(float *temperature, float *vapour, float *cloud, float *rain, float *ground,
                                         const float *pressure, int columns, int rows, int levels)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int here = row * columns + column;
    float falling = 0.0f;
    for (int level = levels - 1; level >= 0; level--) {
        int at = level * columns * rows + here;
        float t = temperature[at], q = vapour[at], c = cloud[at], r = rain[at];
        // Vapour that air of this temperature and pressure (in hectopascals) holds, by Tetens' formula.
        float steam = 6.11f * __nvvm_ex2_approx_f(24.92f * (t - 273.15f) / (t - 35.85f));
        float full = 622.0f * steam / (pressure[level] - steam);
        // Condensing warms the air, which then holds more.
        float warmth = 1.0f + 10240.0f * full / ((t - 35.85f) * (t - 35.85f));
        float condensed = (q - full) / warmth;
        condensed = condensed > -c ? condensed : -c;
        q = q - condensed;
        c = c + condensed;
        t = __builtin_fmaf(2.5f, condensed, t);
        // Thick cloud turns into rain, and rain gathers cloud.
        float made = 0.02f * (c > 0.5f ? c - 0.5f : 0.0f) + 0.05f * c * r;
        made = made < c ? made : c;
        c = c - made;
        r = r + made + falling;
        falling = 0.3f * r;
        r = r - falling;
        temperature[at] = t;
        vapour[at] = q;
        cloud[at] = c;
        rain[at] = r;
    }
    ground[here] += falling;
}
