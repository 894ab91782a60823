#!/bin/sh
# Writes the secrets of compose.yaml to .env, once: `sh deploy/compose/secrets.sh && docker compose up`. What is there stays, since the database keeps its
# password and SECRET_KEY reads what was stored with it.
set -eu
umask 077
touch .env
for name in SECRET_KEY POSTGRES_PASSWORD; do
  grep -q "^$name=." .env && continue
  # A last line without its end would become part of this one.
  [ -z "$(tail -c 1 .env)" ] || echo >> .env
  printf '%s=%s\n' "$name" "$(od -A n -N 32 -t x1 /dev/urandom | tr -d ' \n')" >> .env
  echo "$name was written to .env"
done
