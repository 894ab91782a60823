import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { build, type Plugin } from 'esbuild'
import { BUNDLES, INSTALLED, MANIFEST, type Manifest, ROOT, readFreshBundle, type State, stateOf } from './bundle.ts'

/*
 * `npm run setup` and `npm start` run this. It bundles all programs and threads, unless there is a bundle of the sources as they are. The service
 * also runs without, so whatever goes wrong here is only reported.
 */

/** A module that a program or thread begins with, as sources name it. */
const MODULE_URL = /new URL\('(\.[^']*\.ts)', import\.meta\.url\)/g
/** Milliseconds within which a file can change twice without a change of its time. */
const RACY_MS = 2000
const TIMES = 3
/** Replaces import.meta.resolve. */
const RESOLVER = `
import { createRequire as resolverOf } from 'node:module'
import { pathToFileURL as urlOf } from 'node:url'
const resolveFrom = (file: string, name: string) => urlOf(resolverOf(file).resolve(name)).href
`
const RESOLVING = Symbol()
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
    const { modules, sources } = await write(join(BUNDLES, folder))
    const isRacy = Object.values(sources).some(([, modified]) => modified * 1000 > before - RACY_MS)
    if (!isRacy) {
      publish({ folder, modules, sources })
      return (performance.now() - began) / 1000
    }
    if (time === TIMES) throw new Error('the sources changed while they were bundled')
    await pause(RACY_MS)
  }
}

async function write(folder: string): Promise<Pick<Manifest, 'modules' | 'sources'>> {
  const entries = beginnings()
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(entries.map((source) => [nameOf(source), source])),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    metafile: true,
    logLevel: 'silent',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [urls(folder, new Set(entries)), lazyLibraries(folder), http()],
  })
  // Without it, Node reads each file twice to find out that it is a module: 35 ms of a start.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const own = Object.keys(metafile.inputs).filter((path) => path.startsWith('packages/'))
  const sources = [...own, INSTALLED].map((path) => [path, stateOf(path)] as [string, State])
  const modules = entries.map((source) => [source, `${nameOf(source)}.js`])
  return { modules: Object.fromEntries(modules), sources: Object.fromEntries(sources) }
}

/** Every module of a program or thread. */
function beginnings(): string[] {
  const found = new Set<string>()
  for (const file of globSync('packages/*/src/**/*.ts', { cwd: ROOT }))
    for (const [, name] of readFileSync(join(ROOT, file), 'utf8').matchAll(MODULE_URL))
      found.add(join(dirname(file), name as string))
  return [...found].sort()
}

function nameOf(source: string): string {
  return source.replace(/\.ts$/, '').replaceAll('/', '.')
}

/** An import of node:http reads everything it exports, and so loads the WebSocket client that is one of its getters: 25 ms of a start. */
function http(): Plugin {
  return {
    name: 'http',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(?:node:)?http$/, namespace: 'file' }, ({ kind }) =>
        // The result of import() must have the names of the module.
        kind === 'dynamic-import' ? undefined : { path: 'http', namespace: 'builtin' },
      )
      onLoad({ filter: /^/, namespace: 'builtin' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(`node:${path}`)})`,
      }))
    },
  }
}

/** A module in the bundle finds the files next to its source, and the libraries of its package, and begins threads from the bundle. */
function urls(folder: string, entries: ReadonlySet<string>): Plugin {
  return {
    name: 'urls',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.startsWith(join(ROOT, 'packages/'))) return undefined
        const source = readFileSync(path, 'utf8')
        if (!source.includes('import.meta')) return undefined
        const own = `new URL(${JSON.stringify(relative(folder, path))}, import.meta.url).href`
        const pieces = source.split(MODULE_URL).map((piece, at) => {
          if (at % 2 === 0)
            return piece.replaceAll('import.meta.url', own).replaceAll('import.meta.resolve(', `resolveFrom(${own}, `)
          const target = relative(ROOT, join(dirname(path), piece))
          return entries.has(target)
            ? `new URL('./${nameOf(target)}.js', import.meta.url)`
            : `new URL('${piece}', ${own})`
        })
        const contents = pieces.join('')
        return { contents: contents.includes('resolveFrom(') ? RESOLVER + contents : contents, loader: 'ts' }
      })
    },
  }
}

/** Libraries that a program loads only when it needs them stay where they are: Node finds the names that a CommonJS module exports, esbuild does not. */
function lazyLibraries(folder: string): Plugin {
  return {
    name: 'lazy libraries',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[@a-z]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === RESOLVING) return undefined
        if (!importer.includes('/packages/') || /^(?:node:|@postrider\/)/.test(path)) return undefined
        const found = await resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING })
        return found.errors.length > 0 ? found : { path: `./${relative(folder, found.path)}`, external: true }
      })
    },
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
