# shellcheck shell=bash
# Progress lines for the scripts of this folder; sourced, not run.
#
#   logged TITLE LOG COMMAND...   runs the command with its output in LOG. On a terminal the line shows the log's last line
#                                 while it runs; elsewhere a line is printed every 30 s. On failure: the log's last lines,
#                                 where the log is, and the command's exit status.
#   skipped TITLE WHY             says that nothing was to be done.
#
# A script that sources this and is called with --help prints the comment at its head, and ends.

case ${1:-} in
-h | --help)
  sed -n -E '2,/^[^#]/ s/^# ?//p' "$0"
  exit 0
  ;;
esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BRAID_BUILD:-$root/build}
logs=$build/logs
mkdir -p "$logs"

skipped() { printf '  %-34s %s\n' "$1" "$2"; }

logged() {
  local title=$1 log=$2 pid status=0 started=$SECONDS shown=$SECONDS last
  shift 2
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  trap 'kill $pid 2>/dev/null; exit 130' INT TERM
  while kill -0 $pid 2>/dev/null; do
    if [ -t 1 ]; then
      last=$(tail -c 400 "$log" | tr '\r' '\n' | tail -n 1 | cut -c1-60 | tr -cd '[:print:]')
      printf '\r\033[K  %-34s %4d s  %s' "$title" $((SECONDS - started)) "$last"
    elif [ $((SECONDS - shown)) -ge 30 ]; then
      shown=$SECONDS
      last=$(tail -c 400 "$log" | tr '\r' '\n' | tail -n 1 | cut -c1-90 | tr -cd '[:print:]')
      printf '  %-34s %4d s  %s\n' "$title ..." $((SECONDS - started)) "$last"
    fi
    sleep 0.3
  done
  wait $pid || status=$?
  trap - INT TERM
  [ -t 1 ] && printf '\r\033[K'
  if [ $status = 0 ]; then
    printf '  %-34s %4d s\n' "$title" $((SECONDS - started))
    return 0
  fi
  printf '  %-34s FAILED with exit status %s; the last lines of its log:\n\n' "$title" $status
  tail -n 25 "$log" | sed 's/^/    /'
  printf '\n  whole log: %s\n' "$log"
  return $status
}
