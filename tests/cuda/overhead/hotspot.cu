// Temperatures on a chip of so many cells in a row, 8 launches; with a second argument it only writes the inputs to that folder, for
// hotspot.toml.
#include "../../../sim/workloads/kernels/hotspot.cu"
#include "inputs.h"

int main(int, char **arguments) {
    const int side = std::atoi(arguments[1]), steps = 2, useful = TILE - 2 * steps, blocks = (side + useful - 1) / useful;
    std::vector<float> power(side * side), start(side * side);
    unsigned seed = 1;
    for (float &value : power) value = next(seed) % 1000 * 1e-3f;
    for (float &value : start) value = 320 + next(seed) % 1000 * 1e-2f;
    if (arguments[2]) {
        write(arguments[2], "power", power);
        write(arguments[2], "start", start);
        return 0;
    }
    float *p = on_device(power), *before = on_device(start), *after = on_device(start);
    for (int launch = 0; launch < 8; launch++) {
        hotspot<<<dim3(blocks, blocks), dim3(TILE, TILE)>>>(p, before, after, side, side, steps, 0.01f, 0.5f, 0.25f, 0.125f, 80);
        std::swap(before, after);
    }
    std::printf("%.3f degrees\n", from_device(before, 1)[0]);
    return 0;
}
