#!/bin/sh
# Print the path of wrk, the load generator of the service's benchmark, and install it where there
# is none: Debian's package as root. Without root, say what to do.
set -eu

if [ -n "${MIDPOINT_WRK:-}" ]; then
  if [ ! -x "$MIDPOINT_WRK" ]; then
    echo "MIDPOINT_WRK names $MIDPOINT_WRK, which is not a program" >&2
    exit 1
  fi
  echo "$MIDPOINT_WRK"
  exit
fi
command -v wrk && exit
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing wrk (once) ..." >&2
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends wrk; } >&2
  command -v wrk && exit
fi
cat >&2 <<'MESSAGE'
The service's benchmark needs wrk, a load generator, and installing it needs root.
Ask for the package `wrk` (Debian, Ubuntu, Fedora, Homebrew), or build it yourself and
name the program: MIDPOINT_WRK=/path/to/wrk make bench
MESSAGE
exit 1
