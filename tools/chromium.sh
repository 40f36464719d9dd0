#!/bin/sh
# Print the path of a Chromium for the browser tests, and install one where there is none:
# Debian's package as root, otherwise the one that the npm package @sparticuz/chromium carries.
set -eu
cd "$(dirname "$0")/.."

found() {
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" && return 0
  done
  return 1
}

if [ -n "${MIDPOINT_CHROMIUM:-}" ]; then
  echo "$MIDPOINT_CHROMIUM"
  exit
fi
found && exit
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium (once) ..." >&2
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >&2
  found && exit
fi
carried=web/.chromium
if [ ! -d "$carried/node_modules/@sparticuz/chromium" ]; then
  echo "Fetching Chromium into $carried (once) ..." >&2
  npm install --silent --no-save --no-package-lock --prefix "$carried" @sparticuz/chromium >&2
fi
cd "$carried"
node --input-type=module -e \
  'import chromium from "@sparticuz/chromium"; console.log(await chromium.executablePath());'
