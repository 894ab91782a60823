#!/bin/sh
# Writes the secrets of compose.yaml to .env, once: `sh deploy/compose/secrets.sh && docker compose up`. What is there stays, since the database keeps its
# password and SECRET_KEY reads what was stored with it. With a host name, which leads here, also the settings of HTTPS at it.
set -eu
umask 077
touch .env

# Adds a setting, unless it has a value already.
add() {
  if grep -q "^$1=." .env; then return; fi
  # A last line without its end would become part of this one.
  [ -z "$(tail -c 1 .env)" ] || echo >> .env
  printf '%s=%s\n' "$1" "$2" >> .env
  echo "$1 was written to .env"
}

for name in SECRET_KEY POSTGRES_PASSWORD; do
  add "$name" "$(od -A n -N 32 -t x1 /dev/urandom | tr -d ' \n')"
done
[ $# -gt 0 ] || exit 0
case $1 in
*[!a-z0-9.-]* | *..* | .* | -* | *.) echo "secrets.sh: \"$1\" is no host name such as mail.example.com" >&2; exit 2 ;;
*.*) ;;
*) echo "secrets.sh: \"$1\" is no host name such as mail.example.com" >&2; exit 2 ;;
esac
add COMPOSE_PROFILES tls
add PUBLIC_HOST "$1"
add PUBLIC_URL "https://$1"
# The networks that Docker gives to projects, from which the proxy connects.
add TRUST_PROXY 172.16.0.0/12,192.168.0.0/16
