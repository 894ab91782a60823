#!/bin/sh
# The command of the Debian package. Root runs it as the user of the service, who owns its data and its settings.
set -eu
export POSTRIDER_SETTINGS=/etc/postrider/postrider.env
export DATA_DIR="${DATA_DIR:-/var/lib/postrider}"
[ $# -gt 0 ] || set -- --help
node=$(echo /usr/lib/postrider/node_modules/node-linux-*/bin/node)
program=/usr/lib/postrider/node_modules/postrider/bin/postrider.js
if [ "$(id -u)" = 0 ]; then
  cd /var/lib/postrider
  exec setpriv --reuid=postrider --regid=postrider --init-groups -- "$node" "$program" "$@"
fi
exec "$node" "$program" "$@"
