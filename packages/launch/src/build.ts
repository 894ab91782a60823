import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BUNDLES, INSTALLED, MANIFEST, type Manifest, readFreshBundle, type State, stateOf } from './bundle.ts'
import { bundlePrograms } from './bundle-programs.ts'

/*
 * `npm run setup` and `npm start` run this. It bundles all programs and threads, unless there is a bundle of the sources as they are. The service
 * also runs without, so whatever goes wrong here is only reported.
 */

/** Milliseconds within which a file can change twice without a change of its time. */
const RACY_MS = 2000
const TIMES = 3
/** Bundles that stay: processes that run may load parts of theirs later. */
const MIN_BUNDLES = 3
const RETENTION_MS = 86_400_000

try {
  if (readFreshBundle() === undefined) {
    const seconds = await bundle()
    process.stdout.write(`bundled the programs in ${seconds.toFixed(1)} s\n`)
  }
} catch (error) {
  process.stderr.write(`the programs run from their sources, and start more slowly: ${(error as Error).message}\n`)
}

async function bundle(): Promise<number> {
  const began = performance.now()
  for (let time = 1; ; time++) {
    const before = Date.now()
    const folder = `${before.toString(36)}-${process.pid}`
    const { modules, sources: own } = await bundlePrograms({ folder: join(BUNDLES, folder) })
    const sources = Object.fromEntries([...own, INSTALLED].map((path) => [path, stateOf(path)] as [string, State]))
    const isRacy = Object.values(sources).some(([, modified]) => modified * 1000 > before - RACY_MS)
    if (!isRacy) {
      publish({ folder, modules, sources })
      return (performance.now() - began) / 1000
    }
    if (time === TIMES) throw new Error('the sources changed while they were bundled')
    await pause(RACY_MS)
  }
}

function publish(manifest: Manifest): void {
  const draft = `${MANIFEST}.${process.pid}`
  mkdirSync(BUNDLES, { recursive: true })
  writeFileSync(draft, JSON.stringify(manifest))
  renameSync(draft, MANIFEST)
  const bundles = readdirSync(BUNDLES, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => ({ path: join(BUNDLES, name), made: statSync(join(BUNDLES, name)).mtimeMs }))
    .sort((a, b) => b.made - a.made)
  for (const { path, made } of bundles.slice(MIN_BUNDLES))
    if (made < Date.now() - RETENTION_MS) rmSync(path, { recursive: true, force: true })
}
