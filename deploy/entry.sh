#!/bin/sh
# Runs `cortex-skills` with everything that changes in one folder.
#
#   CORTEX_DATA   that folder; /data if it is not set. It must be writable, and is best private to the user.
set -eu
umask 077
data=${CORTEX_DATA:-/data}
if ! [ -w "$data" ]; then
  echo "cortex-entry: $data cannot be written to by user $(id -u): mount a volume that it owns" >&2
  exit 1
fi
export XDG_DATA_HOME="$data" XDG_CONFIG_HOME="$data/config" XDG_CACHE_HOME="$data/cache" HOME="$data"
export CORTEX_SANDBOX_CACHE="${CORTEX_SANDBOX_CACHE:-$data/cache/code}"
exec cortex-skills "$@"
