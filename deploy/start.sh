#!/bin/sh
# Look at the site and its database, then serve it: midpoint-start SITE [options of midpoint serve]
# A database's password may be in a file: name it by MIDPOINT_DATABASE_PASSWORD_FILE.
set -eu

[ $# -ge 1 ] || { echo "usage: $0 SITE [OPTION]..." >&2; exit 2; }
if [ -n "${MIDPOINT_DATABASE_PASSWORD_FILE:-}" ]; then
	PGPASSWORD=$(cat "$MIDPOINT_DATABASE_PASSWORD_FILE")
	export PGPASSWORD
fi
midpoint=$(dirname "$0")/midpoint
"$midpoint" doctor "$1" >&2
exec "$midpoint" serve "$@"
