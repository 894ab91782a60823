import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** Holds the dependency rule of docs/architecture.md, so that nobody has to remember it. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The rooms of core, from the bottom up: a file imports its own room and those below it. */
const ROOMS = [
  'platform',
  'mime',
  'events',
  'accounts',
  'content',
  'suppressions',
  'domains',
  'submission',
  'delivery',
  'composition',
  'messages',
  'raw',
  'tracking',
  'returns',
  'reporting',
  'reputation',
  'people',
  'retention',
]
/**
 * The rooms of the other packages, from the bottom up, with the files that rooms import. A file imports its own room and those below it;
 * files of the root that are not listed are above all rooms.
 */
const ORDER: Readonly<Record<string, readonly string[]>> = {
  api: [
    'http',
    'ignored.ts',
    'agent.ts',
    'large-calls',
    'entry-points.ts',
    'v2',
    'openapi.ts',
    'v3',
    'tracking',
    'operator',
    'docs',
    'mcp',
    'register-entry-points.ts',
  ],
  cli: [
    'command.ts',
    'table.ts',
    'smtp',
    'first-run.ts',
    'settings-file.ts',
    'parameters.ts',
    'usage.ts',
    'topics.ts',
    'memory.ts',
    'supervision',
    'held-sockets.ts',
    'supervisor.ts',
    'programs.ts',
    'embedded-postgres',
    'importing',
    'backup',
    'start-postgres.ts',
    'test-message.ts',
    'installation.ts',
    'doctor',
    'plan.ts',
    'completion.ts',
    'up.ts',
    'commands',
  ],
  dashboard: ['frame', 'live', 'pages'],
  delivery: ['common', 'tls', 'smtp', 'message', 'routing', 'attempt', 'destinations', 'queue', 'loops'],
  relay: ['smtp', 'message', 'session', 'returns'],
  sandbox: [
    'inbox-entry.ts',
    'html-check',
    'reading',
    'marks.ts',
    'read-entry.ts',
    'inbox.ts',
    'outgoing',
    'smtp',
    'search',
    'page',
    'mailpit',
    'http',
  ],
}
/** What may stand beside the rooms. `core.ts`, `process.ts` and `sealed-columns.ts` wire, `index.ts` is the door. */
const ROOT_FILES = ['core.ts', 'index.ts', 'process.ts', 'sealed-columns.ts']
/** Texts in, texts out: no database, no clock, no settings. Of the platform they import errors, threads and what bounds their time. */
const PURE = /^packages\/core\/src\/(mime|content\/(engine|plain-text|substitution))\//
const FOR_THE_PURE = /^packages\/core\/src\/platform\/(errors\.ts|never\.ts|process\/release\.ts|concurrency\/)/
/**
 * Nothing but a process file reads the environment, and what loads one; the embedded Postgres hands it down to initdb and the server, which starts
 * programs for its write-ahead log. Helpers for tests start an installation with a few variables of theirs.
 */
const READ_THE_ENVIRONMENT =
  /^packages\/(client\/src\/bin\/\w+\.ts|\w+\/src\/\w+-process\.ts|launch\/src\/launch\.ts|cli\/src\/(embedded-postgres\/binaries|probe)\.ts|cli\/src\/backup\/(archive|fetch)-wal\.ts|client\/src\/test\/(start|template)\.ts)$/
const MOST_LINES = 300
const MOST_CHARACTERS = 160
/** A URL, or a regular expression that is the whole line or the value of a field. */
const UNBREAKABLE = /https?:\/\/|^\s*(?:\w+: )?\/(?![/*])/
const MOST_FILES = 24
/**
 * The body of a thread imports no more than it needs: all of core takes 0.5 s of computing and 80 MB, this 0.06 s. What begins a program knows
 * neither.
 */
const DOORS = [
  '@postrider/core',
  '@postrider/core/backup-store',
  '@postrider/core/mime',
  '@postrider/core/thread-orders',
  '@postrider/launch',
]
/** Packages that are no program: the export of traces, the parts of pages, which know nothing of mail, and the pages for people, which the API serves. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  core: ['@postrider/telemetry'],
  api: ['@postrider/dashboard', '@postrider/ui'],
  dashboard: ['@postrider/ui'],
  sandbox: ['@postrider/ui'],
}

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
const benches = globSync('bench/**/*.ts', { cwd: ROOT }).sort()
const text = new Map([...files, ...benches].map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
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

/** The room of a file of a package, or the file itself where it stands in the root. */
function roomOf(file: string): string {
  return file.split('/')[3] as string
}

/** How high a room stands; -1 for one that the list lacks. */
function heightOf(room: string): number {
  return ROOT_FILES.includes(room) ? ROOMS.length : ROOMS.indexOf(room)
}

function places(broken: readonly Import[]): string[] {
  return broken.map(({ file, line, specifier }) => `${file}:${line} imports ${specifier}`)
}

t.test('the imports of every package are found', async (t) => {
  t.ok(imports.length > 300, `${imports.length} imports`)
  const lost = imports.filter(({ target }) => target !== undefined && !text.has(target))
  t.strictSame(places(lost), [], 'a relative import names a file of packages/*/src, by its .ts name')
})

t.test(
  'core imports no other package, and an app imports core by its doors, the libraries of pages, and no other app',
  async (t) => {
    const broken = imports.filter(({ file, specifier, target }) => {
      if (target !== undefined) return packageOf(target) !== packageOf(file)
      if (!specifier.startsWith('@postrider/')) return false
      if (LIBRARIES[packageOf(file)]?.includes(specifier)) return false
      return ['core', 'ui'].includes(packageOf(file)) || !DOORS.includes(specifier)
    })
    t.strictSame(places(broken), [])
  },
)

t.test('the rooms of core are those of the list, and a file imports its own room and those below it', async (t) => {
  const inCore = imports.filter(({ file, target }) => packageOf(file) === 'core' && target !== undefined)
  const rooms = new Set(files.filter((file) => packageOf(file) === 'core').map(roomOf))
  t.strictSame(
    [...rooms].filter((room) => heightOf(room) === -1),
    [],
    'every room of core has its place in the list of this test',
  )
  t.strictSame(
    [...ROOMS, ...ROOT_FILES].filter((room) => !rooms.has(room)),
    [],
    'the list has no room that is not there',
  )
  const broken = inCore.filter(({ file, target }) => {
    const from = roomOf(file)
    const to = roomOf(target as string)
    return from !== to && heightOf(from) <= heightOf(to) && !(ROOT_FILES.includes(from) && ROOT_FILES.includes(to))
  })
  t.strictSame(places(broken), [])
})

for (const [name, order] of Object.entries(ORDER)) {
  t.test(
    `the rooms of ${name} are those of its list, and a file imports its own room and those below it`,
    async (t) => {
      const own = files.filter((file) => packageOf(file) === name)
      const rooms = own.map(roomOf).filter((room) => !room.endsWith('.ts'))
      t.strictSame(
        [...new Set(rooms)].filter((room) => !order.includes(room)),
        [],
        'every room has its place in the list',
      )
      t.strictSame(
        order.filter((room) => !own.some((file) => roomOf(file) === room)),
        [],
        'the list has no room that is not there',
      )
      const height = (room: string) => (order.includes(room) ? order.indexOf(room) : order.length)
      const broken = imports.filter(({ file, target }) => {
        if (packageOf(file) !== name || target === undefined) return false
        const [from, to] = [roomOf(file), roomOf(target)]
        return from !== to && height(from) < height(to)
      })
      t.strictSame(places(broken), [])
    },
  )
}

t.test('mime, the template engine and substitution know no database, no clock and no settings', async (t) => {
  const pure = imports.filter(({ file }) => PURE.test(file))
  t.ok(pure.length > 20, `${pure.length} imports`)
  const broken = pure.filter(({ target }) => target !== undefined && !PURE.test(target) && !FOR_THE_PURE.test(target))
  t.strictSame(places(broken), [])
  const clocks = files.filter((file) => PURE.test(file) && /\bDate\.now\(|\bnew Date\(\)/.test(text.get(file) ?? ''))
  t.strictSame(clocks, [])
})

t.test('the readers of returned messages know only mime, bounce rules and types', async (t) => {
  const readers = imports.filter(({ file }) => file.startsWith('packages/core/src/returns/read/'))
  t.ok(readers.length > 20, `${readers.length} imports`)
  const broken = readers.filter(
    ({ target, typesOnly }) =>
      target === undefined ||
      !(
        typesOnly || /^packages\/core\/src\/(returns\/read|mime)\/|\/delivery\/outcomes\/bounce-rules\.ts$/.test(target)
      ),
  )
  t.strictSame(places(broken), [])
})

t.test('there is no import cycle, not even of types', async (t) => {
  const next = Map.groupBy(
    [...imports, ...benches.flatMap(importsOf)].filter(({ target }) => target !== undefined),
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
  for (const file of [...files, ...benches]) walk(file, [])
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

t.test('no folder has more than 24 files', async (t) => {
  const folders = Object.entries(Object.groupBy([...files, ...benches], (file) => dirname(file)))
  t.strictSame(
    folders
      .filter(([, inside = []]) => inside.length > MOST_FILES)
      .map(([folder, inside = []]) => `${folder}: ${inside.length}`),
    [],
  )
})

t.test('no file is longer than 300 lines, unless it is generated', async (t) => {
  const long = files.filter(
    (file) => !file.includes('/generated/') && (text.get(file) ?? '').split('\n').length - 1 > MOST_LINES,
  )
  t.strictSame(long, [])
})

t.test('no line of a source has more than 160 characters, except URLs and regular expressions', async (t) => {
  const sources = globSync(['packages/*/src/**/*.ts', 'bench/**/*.ts', 'deploy/**/*.ts', 'sql/[0-9]*.sql'], {
    cwd: ROOT,
  })
  t.ok(sources.length > 1_000, `${sources.length} files`)
  for (const file of sources) {
    for (const [at, line] of readFileSync(join(ROOT, file), 'utf8').split('\n').entries()) {
      if (line.length > MOST_CHARACTERS && !UNBREAKABLE.test(line))
        t.fail(`${file}:${at + 1}: ${line.length} characters`)
    }
  }
})
