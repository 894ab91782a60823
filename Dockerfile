# One image for every process: the command says which. Small, without build tools, as an ordinary user.
# The Node that the tests ran on, by digest: a tag can be moved. How to move both: docs/decisions/0015-base-images.md.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY patches patches/
COPY packages/api/package.json packages/api/
COPY packages/cli/package.json packages/cli/
COPY packages/core/package.json packages/core/
COPY packages/dashboard/package.json packages/dashboard/
COPY packages/delivery/package.json packages/delivery/
COPY packages/launch/package.json packages/launch/
COPY packages/relay/package.json packages/relay/
COPY packages/sandbox/package.json packages/sandbox/
COPY packages/ui/package.json packages/ui/
# Neither the npm-borne Node nor the embedded Postgres: the image has its own Node, and DATABASE_URL names the database.
RUN npx -y pnpm@12.21.0 install --frozen-lockfile --prod --no-optional --config.minimumReleaseAge=0

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=4 \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    DATA_DIR=/data \
    API_HOST=0.0.0.0 \
    RELAY_HOST=0.0.0.0
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=packages /app ./
COPY sql ./sql
# The guides that the API serves at /docs.
COPY docs ./docs
COPY .env.example SECURITY.md ./
COPY packages ./packages
USER node
VOLUME /data
EXPOSE 8080 2525 2465 2526 8025
HEALTHCHECK --interval=10s --timeout=8s --start-period=20s CMD ["node", "packages/cli/src/postrider.ts", "health"]
CMD ["node", "packages/api/src/server.ts"]
