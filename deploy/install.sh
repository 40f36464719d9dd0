#!/bin/sh
# Install the service from this checkout into a directory of its own: deploy/install.sh /opt/midpoint
# Versions and hashes are those of requirements/service.txt. Run it again to upgrade.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }
source_directory=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
prefix=$(cd "$1" && pwd)

"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "Midpoint needs Python 3.11 or newer; name one by PYTHON=..." >&2; exit 1; }
[ -x "$prefix/bin/python" ] || "${PYTHON:-python3}" -m venv "$prefix"

pip() { "$prefix/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
pip install --require-hashes -r "$source_directory/requirements/service.txt"
pip install --no-deps --no-build-isolation --force-reinstall "$source_directory"

cp "$source_directory/deploy/start.sh" "$prefix/bin/midpoint-start"
chmod 755 "$prefix/bin/midpoint-start"
sed "s|/opt/midpoint|$prefix|g" "$source_directory/deploy/midpoint.service" >"$prefix/midpoint.service"
"$prefix/bin/midpoint" --version
