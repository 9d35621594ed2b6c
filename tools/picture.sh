#!/bin/sh
# The picture of the map in the README: the top of a report, drawn by Chromium at 1400 pixels.
#   tools/picture.sh [REPORT.html [PICTURE.png [HEIGHT]]]
# Without a report it runs the seed preset first, with KRAIT or build/release/bin/krait.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
picture=${2:-$root/docs/map.png}
height=${3:-1415}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -ge 1 ]; then
  cp "$1" "$work/report.html"
else
  "${KRAIT:-$root/build/release/bin/krait}" map --preset seed --db "$work/map.sqlite" --html "$work/report.html" > "$work/map.txt"
fi
if grep -q -- '-dirty' "$work/report.html"; then
  echo "picture.sh: the report is of changes that no commit holds (-dirty); commit, build and run again" >&2
  exit 1
fi
HOME=$work chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
  --screenshot="$work/picture.png" --window-size="1400,$height" "file://$work/report.html" 2> "$work/chromium.txt" ||
  { cat "$work/chromium.txt" >&2; exit 1; }
mv "$work/picture.png" "$picture"
