#!/bin/sh
# Builds the image of the Dockerfile with Debian's buildah, where there is neither a container engine nor a registry of images:
#   sudo deploy/image/build.sh FOLDER      # the image is localhost/postrider, in FOLDER
# Its base is a stand-in for the one that the Dockerfile names: Debian 12 by debootstrap, and the Node and npm of the npm registry.
# Debian: apt-get install buildah debootstrap. A build with access to a registry needs none of it: docker build .
set -eu
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
node=$(sed -n 's/^nodeVersion: //p' pnpm-workspace.yaml)
npm=11.21.2
base=localhost/node-stand-in:$node-$npm
mkdir -p "$folder"

cat > "$folder/storage.conf" <<END
[storage]
driver = "$(grep -q overlay /proc/filesystems && echo overlay || echo vfs)"
graphroot = "$folder/storage"
runroot = "$folder/run"
END
echo '{"default":[{"type":"insecureAcceptAnything"}]}' > "$folder/policy.json"
export CONTAINERS_STORAGE_CONF="$folder/storage.conf"

if ! buildah inspect "$base" > "$folder/base.json" 2>&1; then
  root=$folder/root
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" > "$folder/debootstrap.log"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
  npm install --silent --global --prefix "$root/usr/local" "npm@$npm"
  cp "$(realpath node_modules/.bin/node)" "$root/usr/local/bin/node"
  cp "$(dirname "$(realpath node_modules/.bin/node)")/../LICENSE" "$root/usr/local/LICENSE"
  chroot "$root" groupadd --gid 1000 node
  chroot "$root" useradd --uid 1000 --gid node --create-home node
  # Certificates that this host adds for its registry; the image does not get them.
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then cp "$NODE_EXTRA_CA_CERTS" "$root/etc/build-certificates.pem"; fi
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$root" / > /dev/null
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then buildah config --env NODE_EXTRA_CA_CERTS=/etc/build-certificates.pem "$container"; fi
  buildah commit --quiet "$container" "$base" > /dev/null
  buildah rm "$container" > /dev/null
  rm -rf "$root"
fi

buildah bud --quiet --layers --isolation chroot --network host --signature-policy "$folder/policy.json" --format docker \
  --build-arg "NODE_IMAGE=$base" --tag localhost/postrider .
