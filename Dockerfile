# One image for every process: the command says which. Node, what it links to, the packages and the sources: no shell, no package manager.
# The Node that the tests ran on, by digest: a tag can be moved. How to move both: docs/decisions/0015-base-images.md.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY patches patches/
COPY packages/api/package.json packages/api/
COPY packages/cli/package.json packages/cli/
COPY packages/client/package.json packages/client/
COPY packages/core/package.json packages/core/
COPY packages/dashboard/package.json packages/dashboard/
COPY packages/delivery/package.json packages/delivery/
COPY packages/launch/package.json packages/launch/
COPY packages/relay/package.json packages/relay/
COPY packages/sandbox/package.json packages/sandbox/
COPY packages/telemetry/package.json packages/telemetry/
COPY packages/ui/package.json packages/ui/
# Neither the npm-borne Node nor the embedded Postgres: the image has its own Node, and DATABASE_URL names the database.
# Then half of what packages bring: types, source maps, their documents, tests and builds for browsers. Licences stay.
RUN npx -y pnpm@12.21.0 install --frozen-lockfile --prod --no-optional --config.minimumReleaseAge=0 \
 && rm -r pnpm-lock.yaml patches \
 && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.tsbuildinfo' -o -name '*.umd.*' \
      -o -name '*.min.js' ! -path '*/htmx.org/*' -o -path '*/semantic-conventions/dist/experimental_*' -o -iname '*.md' ! -iname 'licen[cs]e*' ! -iname 'notice*' \) -delete \
 && find node_modules/.pnpm -mindepth 4 -maxdepth 6 -type d -path '*/node_modules/*' \
      \( -name test -o -name tests -o -name __tests__ -o -name bench -o -name benchmark -o -name benchmarks -o -name example -o -name examples \
      -o -name .github -o -name umd -o -name iife \) -prune -exec rm -r {} +

# The programs are bundled and compiled by the build, and not at each start (docs/decisions/0031-image.md).
FROM ${NODE_IMAGE} AS esbuild
WORKDIR /esbuild
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY patches patches/
COPY packages/launch/package.json packages/launch/
RUN npx -y pnpm@12.21.0 install --frozen-lockfile --filter @postrider/launch --config.minimumReleaseAge=0

FROM packages AS bundle
COPY --from=esbuild /esbuild /esbuild
COPY sql ./sql
# The guides that the API serves at /docs.
COPY docs ./docs
COPY .env.example SECURITY.md LICENSE ./
COPY packages ./packages
RUN mkdir -p packages/launch/node_modules && ln -s /esbuild/packages/launch/node_modules/esbuild packages/launch/node_modules/ \
 && node packages/launch/src/build.ts && rm -r packages/launch/node_modules && chown node:node node_modules/.cache && test -f node_modules/.cache/postrider/bundle.json

# Of Debian and Node: the program, the libraries it links to (with their entries for scanners, and licences), and the ordinary user.
FROM ${NODE_IMAGE} AS base
RUN mkdir -p /base/usr/local/bin /base/usr/share/doc/node /base/var/lib/dpkg/status.d \
 && install -d -m 0700 -o node -g node /base/data && install -d -m 1777 /base/tmp \
 && cp /usr/local/bin/node /base/usr/local/bin/ && cp /usr/local/LICENSE /base/usr/share/doc/node/ \
 && ldd /usr/local/bin/node | grep -o '/[^ ]*' | xargs cp -L --parents --target-directory=/base \
 && cp --parents /etc/passwd /etc/group /etc/debian_version /etc/os-release /base \
 && for package in base-files libc6 libgcc-s1 libstdc++6; do \
      dpkg-query --status $package > /base/var/lib/dpkg/status.d/$package && cp -rL /usr/share/doc/$package /base/usr/share/doc/ || exit 1; done

FROM scratch
ENV PATH=/usr/local/bin \
    NODE_ENV=production \
    NODE_OPTIONS="--max-semi-space-size=8 --v8-pool-size=1" \
    NODE_COMPILE_CACHE=/app/node_modules/.cache/node \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    DATA_DIR=/data \
    API_HOST=0.0.0.0 \
    RELAY_HOST=0.0.0.0
COPY --from=base /base /
WORKDIR /app
COPY --from=bundle /app ./
USER node
COPY deploy/image/fill-compile-cache.ts deploy/image/
RUN ["node", "deploy/image/fill-compile-cache.ts"]
VOLUME /data
EXPOSE 8080 2525 2465 2527 2526 8025
HEALTHCHECK --interval=10s --timeout=8s --start-period=20s CMD ["node", "packages/cli/src/probe.ts"]
CMD ["node", "packages/api/src/server.ts"]
