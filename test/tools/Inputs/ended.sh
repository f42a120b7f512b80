#!/bin/sh
# ended.sh FILE: whether the processes whose numbers FILE holds have ended.
for process in $(cat "$1"); do
  if grep 'State:.[^ZX]' "/proc/$process/status" 2>/dev/null; then exit 1; fi
done
