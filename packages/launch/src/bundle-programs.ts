import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { ROOT } from './bundle.ts'

/** A module that a program or thread begins with, as sources name it. */
const MODULE_URL = /new URL\('(\.[^']*\.ts)', import\.meta\.url\)/g
/** A library that a module looks for by itself. */
const LOOKED_FOR = /(?:createRequire\(import\.meta\.url\)|import\.meta\.resolve)\('([^']+)'\)/g
const RESOLVING = Symbol()

export interface Bundled {
  /** The file for each module that a program or thread begins with, by its source; relative to the folder, and to the root of the repository. */
  readonly modules: Readonly<Record<string, string>>
  /** All sources of ours in it, relative to the root of the repository. */
  readonly sources: readonly string[]
  /** Packages that it loads only when they are needed, and does not contain. */
  readonly libraries: readonly string[]
}

export interface BundleOptions {
  /** Where it is written. */
  readonly folder: string
  /** Where it is used, if that is another folder of the repository: URLs of its files are relative to it. */
  readonly usedIn?: string
  /** Whether nothing of the repository but the files next to the sources is there when it is used: neither sources nor node_modules. */
  readonly isAlone?: boolean
}

/** Bundles all programs and their threads with esbuild. */
export async function bundlePrograms({ folder, usedIn = folder, isAlone = false }: BundleOptions): Promise<Bundled> {
  const programs = isAlone ? exportedPrograms() : new Map<string, string>()
  const entries = [...new Set([...beginnings(), ...programs.values()])].sort()
  const libraries = new Set<string>()
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
    plugins: [
      urls({ usedIn, entries: new Set(entries), programs, libraries }),
      isAlone ? namedLibraries(libraries) : lazyLibraries(folder),
      http(),
    ],
  })
  // Without it, Node reads each file twice to find out that it is a module: 35 ms of a start.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  return {
    modules: Object.fromEntries(entries.map((source) => [source, `${nameOf(source)}.js`])),
    sources: Object.keys(metafile.inputs).filter((path) => path.startsWith('packages/')),
    libraries: [...libraries].sort(),
  }
}

/** Every module of a program or thread. */
function beginnings(): string[] {
  const found = new Set<string>()
  for (const file of globSync('packages/*/src/**/*.ts', { cwd: ROOT }))
    for (const [, name] of readFileSync(join(ROOT, file), 'utf8').matchAll(MODULE_URL))
      found.add(join(dirname(file), name as string))
  return [...found]
}

function nameOf(source: string): string {
  return source.replace(/\.ts$/, '').replaceAll('/', '.')
}

/** The programs that packages export, by the name under which the command starts them: `@postrider/api/server`. */
function exportedPrograms(): Map<string, string> {
  const programs = new Map<string, string>()
  for (const file of globSync('packages/*/package.json', { cwd: ROOT })) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as PackageFile
    for (const [key, target] of Object.entries(exports)) {
      const source = join(dirname(file), target)
      if (readFileSync(join(ROOT, source), 'utf8').includes("from '@postrider/launch'"))
        programs.set(join(name, key), source)
    }
  }
  return programs
}

interface PackageFile {
  readonly name: string
  readonly exports?: Readonly<Record<string, string>>
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

interface Urls {
  readonly usedIn: string
  readonly entries: ReadonlySet<string>
  readonly programs: ReadonlyMap<string, string>
  /** Gets the libraries that modules look for by themselves. */
  readonly libraries: Set<string>
}

/** A module in the bundle finds the files next to its source, and the libraries of its package, and begins threads from the bundle. */
function urls({ usedIn, entries, programs, libraries }: Urls): Plugin {
  const resolver = resolverOf(programs)
  return {
    name: 'urls',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.startsWith(join(ROOT, 'packages/'))) return undefined
        const source = readFileSync(path, 'utf8')
        if (!source.includes('import.meta')) return undefined
        for (const [, name = ''] of source.matchAll(LOOKED_FOR)) libraries.add(packageOf(name))
        const own = `new URL(${JSON.stringify(relative(usedIn, path))}, import.meta.url).href`
        const pieces = source.split(MODULE_URL).map((piece, at) => {
          if (at % 2 === 0)
            return piece.replaceAll('import.meta.url', own).replaceAll('import.meta.resolve(', `resolveFrom(${own}, `)
          const target = relative(ROOT, join(dirname(path), piece))
          return entries.has(target)
            ? `new URL('./${nameOf(target)}.js', import.meta.url)`
            : `new URL('${piece}', ${own})`
        })
        const contents = pieces.join('')
        return { contents: contents.includes('resolveFrom(') ? resolver + contents : contents, loader: 'ts' }
      })
    },
  }
}

/** Replaces import.meta.resolve. Programs are files of the bundle if that is all there is. */
function resolverOf(programs: ReadonlyMap<string, string>): string {
  const files = Object.fromEntries([...programs].map(([name, source]) => [name, `./${nameOf(source)}.js`]))
  return `
import { createRequire as resolverOf } from 'node:module'
import { pathToFileURL as urlOf } from 'node:url'
const fileOf: Record<string, string> = ${JSON.stringify(files)}
const resolveFrom = (file: string, name: string) =>
  fileOf[name] ? new URL(fileOf[name], import.meta.url).href : urlOf(resolverOf(file).resolve(name)).href
`
}

/** The package that a file of it is named by: `@scope/name/lib/file.js`. */
function packageOf(path: string): string {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/')
}

/** Libraries that a program loads only when it needs them are looked for where the bundle is installed. */
function namedLibraries(libraries: Set<string>): Plugin {
  return {
    name: 'named libraries',
    setup({ onResolve }) {
      onResolve({ filter: /^[@a-z]/ }, ({ path, kind, importer }) => {
        if (kind !== 'dynamic-import' || !isOwn(importer) || !isLibrary(path)) return undefined
        libraries.add(packageOf(path))
        return { path, external: true }
      })
    },
  }
}

const isOwn = (importer: string): boolean => importer.startsWith(join(ROOT, 'packages/'))
const isLibrary = (path: string): boolean => !/^(?:node:|@postrider\/)/.test(path)

/** Libraries that a program loads only when it needs them stay where they are: Node finds the names that a CommonJS module exports, esbuild does not. */
function lazyLibraries(folder: string): Plugin {
  return {
    name: 'lazy libraries',
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[@a-z]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === RESOLVING) return undefined
        if (!isOwn(importer) || !isLibrary(path)) return undefined
        const found = await resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING })
        return found.errors.length > 0 ? found : { path: `./${relative(folder, found.path)}`, external: true }
      })
    },
  }
}
