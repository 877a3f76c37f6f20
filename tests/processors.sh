#!/usr/bin/env bash
# Run tests as other x86-64 processors would: OpenBLAS and NumPy pick their vector instructions by the processor, and with
# them the last bits of a sum. Called by `make test-processors`.
# Usage: tests/processors.sh PYTHON [pytest arguments]
set -uo pipefail
python=$1
shift

if [ "$(uname -m)" != x86_64 ] && [ "$(uname -m)" != amd64 ]; then
  echo "processors: skipped, other core types can only be chosen on x86-64 (this is $(uname -m))"
  exit 0
fi
flags=" $(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null) "

failed=0
run() { # name, processor feature it needs (or none), environment …
  local name=$1 feature=$2
  shift 2
  if [ -n "$feature" ] && [[ "$flags" != *" $feature "* ]]; then
    echo "processors: $name: skipped, this processor has no $feature"
    return
  fi
  echo "processors: $name"
  env "$@" "$python" -m pytest -q -n auto -p no:cacheprovider "${tests[@]}" || failed=1
}
tests=("$@")

# The ordinary run of the tests uses the processor's own kernels, AVX-512 where it has them; these are the others.
# NumPy warns of features that it does not know or the processor does not have; the tests make warnings errors.
run "SSE3 (Prescott)" "" OPENBLAS_CORETYPE=Prescott \
  NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR" PYTHONWARNINGS=default
run "AVX2 (Haswell)" avx2 OPENBLAS_CORETYPE=Haswell
exit $failed
