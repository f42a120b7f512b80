# say_to_nobody.sh PROGRAM ARGUMENTS...: runs it with standard output closed, then on a full disk, and tells how it failed.
tell() {
  [ "$status" != 0 ] || { echo "$1: exit status 0"; return; }
  echo "$1: $(grep -c -e error: -e ERROR: errors) error, $(grep -e error: -e ERROR: errors | head -n 1)"
}
errors=errors.$$
"$@" >&- 2>$errors </dev/null
status=$?
sed -i '' $errors
mv $errors errors
tell closed
"$@" >/dev/full 2>errors </dev/null
status=$?
tell full
