#!/bin/sh
# Compiles the kernels of this folder to PTX. The PTX is checked in, so this is needed only after a change.
# Usage: tests/data/build.sh [CLANG], which is clang-19 unless given
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
    "${1:-clang-19}" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -std=c++14 -O2 -Wall -Wextra \
        -Werror -include ../../sim/workloads/kernels/device.h -S "$source" -o "${source%.cu}.ptx"
done
