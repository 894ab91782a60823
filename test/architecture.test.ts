import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** Holds the dependency rule of docs/architecture.md, so that nobody has to remember it. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Inside core an import points to a lower level, to its own folder, or, for types only, to a folder of its own level. */
const LEVELS: readonly (readonly string[])[] = [
  // Here stand errors, config, database, clock and the other files of the root.
  [],
  ['recipients', 'audit', 'rate-limits'],
  ['accounts', 'auth', 'domains', 'templates', 'suppressions', 'attachments', 'credits', 'tags'],
  ['subaccounts'],
  ['events', 'tracking'],
  ['delivery'],
  ['messages'],
  ['stats', 'webhooks', 'privacy', 'retention', 'event-log'],
  // Its files tell of events as webhooks do.
  ['exports'],
  ['core.ts', 'index.ts', 'process.ts'],
]
/** Nothing but a process file reads the environment; the embedded Postgres hands it down to initdb and the server. */
const READ_THE_ENVIRONMENT =
  /^packages\/(\w+\/src\/(server|worker)\.ts|cli\/src\/(postrider|embedded-postgres\/binaries)\.ts)$/
const MOST_LINES = 400
/** The body of a thread imports no more than it needs: all of core takes 0.5 s of computing and 80 MB, this 0.06 s. */
const DOORS = ['@postrider/core', '@postrider/core/thread-orders']

interface Import {
  readonly file: string
  readonly line: number
  /** As written. */
  readonly specifier: string
  /** The imported file, for a relative import. */
  readonly target: string | undefined
  readonly typesOnly: boolean
}

const STATEMENT = /^[ \t]*(?:import|export)\s+(?:(type\b)?([^'"`;]*?)\bfrom\s*)?'([^']+)'/gm
const CALL = /\b(?:import|require)\(\s*['"`]([^'"`]+)['"`]/g

const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).sort()
const text = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
const imports = files.flatMap(importsOf)

function importsOf(file: string): Import[] {
  const source = text.get(file) ?? ''
  const found: Import[] = []
  const add = (at: number, specifier: string, typesOnly: boolean) => {
    const target = specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : undefined
    found.push({ file, line: source.slice(0, at).split('\n').length, specifier, target, typesOnly })
  }
  for (const match of source.matchAll(STATEMENT)) {
    const names =
      /\{(.*)\}/s
        .exec(match[2] ?? '')?.[1]
        ?.split(',')
        .filter((name) => name.trim() !== '') ?? []
    const everyName = names.length > 0 && names.every((name) => /^\s*type\s/.test(name))
    add(match.index, match[3] as string, match[1] !== undefined || everyName)
  }
  for (const match of source.matchAll(CALL)) add(match.index, match[1] as string, false)
  return found
}

function packageOf(file: string): string {
  return file.split('/')[1] as string
}

/** The folder of a file of core, or the file itself where it stands in the root. */
function domainOf(file: string): string {
  return file.slice('packages/core/src/'.length).split('/')[0] as string
}

function levelOf(domain: string): number {
  const level = LEVELS.findIndex((names) => names.includes(domain))
  return level === -1 && domain.endsWith('.ts') ? 0 : level
}

function places(broken: readonly Import[]): string[] {
  return broken.map(({ file, line, specifier }) => `${file}:${line} imports ${specifier}`)
}

t.test('the imports of every package are found', async (t) => {
  t.ok(imports.length > 300, `${imports.length} imports`)
  const lost = imports.filter(({ target }) => target !== undefined && !text.has(target))
  t.strictSame(places(lost), [], 'a relative import names a file of packages/*/src, by its .ts name')
})

t.test('core imports no other package, and an app imports core by its doors and no other app', async (t) => {
  const broken = imports.filter(({ file, specifier, target }) => {
    if (target !== undefined) return packageOf(target) !== packageOf(file)
    if (!specifier.startsWith('@postrider/')) return false
    return packageOf(file) === 'core' || !DOORS.includes(specifier)
  })
  t.strictSame(places(broken), [])
})

t.test('inside core arrows point down, and only types go sideways', async (t) => {
  const inCore = imports.filter(({ file, target }) => packageOf(file) === 'core' && target !== undefined)
  const folders = new Set(inCore.map(({ file }) => domainOf(file)))
  t.strictSame(
    [...folders].filter((domain) => levelOf(domain) === -1),
    [],
    'every folder of core has its level in this test',
  )
  const broken = inCore.filter(({ file, target, typesOnly }) => {
    const from = domainOf(file)
    const to = domainOf(target as string)
    if (from === to || levelOf(from) > levelOf(to)) return false
    const rootOrTop = levelOf(from) === levelOf(to) && from.endsWith('.ts')
    return !(rootOrTop || (levelOf(from) === levelOf(to) && typesOnly))
  })
  t.strictSame(places(broken), [])
})

t.test('there is no import cycle, not even of types', async (t) => {
  const next = Map.groupBy(
    imports.filter(({ target }) => target !== undefined),
    ({ file }) => file,
  )
  const cycles = new Set<string>()
  const finished = new Set<string>()
  const walk = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.add([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || finished.has(file)) return
    for (const { target } of next.get(file) ?? []) walk(target as string, [...path, file])
    finished.add(file)
  }
  for (const file of files) walk(file, [])
  t.strictSame([...cycles], [])
})

t.test('only process files and the embedded Postgres read the environment', async (t) => {
  const readers = files.filter((file) => /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[/.test(text.get(file) ?? ''))
  t.strictSame(
    readers.filter((file) => !READ_THE_ENVIRONMENT.test(file)),
    [],
  )
  t.ok(readers.length >= 5, 'every process file does')
})

t.test('no file is longer than 400 lines', async (t) => {
  const long = files.filter((file) => (text.get(file) ?? '').split('\n').length - 1 > MOST_LINES)
  t.strictSame(long, [])
})
