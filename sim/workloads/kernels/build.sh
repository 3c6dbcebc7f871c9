#!/bin/sh
# Compiles every kernel source of this folder to PTX. The PTX is checked in, so this is needed only after a change.
#
# Usage: sim/workloads/kernels/build.sh [CLANG [FOLDER]]
#   CLANG   the compiler, clang-19 unless given; no CUDA toolkit is needed
#   FOLDER  where the PTX goes, beside the sources unless given
set -eu
clang=${1:-clang-19}
sources=$(dirname "$0")
folder=${2:-$sources}
for source in "$sources"/*.cu; do
    # A source may forbid fused multiply-adds other than those it asks for; clang's default for CUDA would ignore that.
    contract=fast
    if grep -q '^#pragma clang fp contract(off)' "$source"; then contract=fast-honor-pragmas; fi
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -std=c++14 -O3 -Wall -Wextra -Werror \
        -ffp-contract=$contract -include "$sources/device.h" -S "$source" -o "$folder/$(basename "$source" .cu).ptx"
done
