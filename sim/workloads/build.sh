#!/bin/sh
# Compiles every kernel source of this folder to PTX. The PTX is checked in, so this is needed only after a change.
#
# Usage: sim/workloads/build.sh [CLANG]     CLANG: the compiler, clang-19 unless given (no CUDA toolkit is needed)
set -eu
clang=${1:-clang-19}
cd "$(dirname "$0")"
for source in *.cu; do
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -std=c++14 -O3 -Wall -Wextra -Werror \
        -include device.h -S "$source" -o "${source%.cu}.ptx"
done
