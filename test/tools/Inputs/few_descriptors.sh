#!/bin/bash
# few_descriptors.sh PROGRAM ARGUMENTS...: runs it with room for so many descriptors, from too few to enough, and tells the exit
# statuses that it ended with.
for most in 9 10 11 12 13 14 15 16 32; do
  (exec >/dev/null 2>errors </dev/null && ulimit -n $most && exec timeout 30 "$@")
  status=$?
  [ $status = 0 ] || grep -q 'Too many open files.*raise it with ulimit -n' errors || status="$status without the limit"
  echo "$most: $status"
done
