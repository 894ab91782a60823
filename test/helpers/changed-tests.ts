import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** What decides how every test runs, with the helpers that these import. */
const OF_ALL = ['test/run.ts', 'test/helpers/files-in-turn.ts']
/** Files whose imports and readers can be told from their text. A change to any other file runs every test. */
const TRACED = /^(?:packages\/\w+\/src|test)\/.*\.ts$/
/** Files that nothing but the tests of the root read, and those that name them. */
const READ_BY_NAME = /^(?:docs|bench)\/|^[^/]+\.md$|^\.env\.example$/
/** The tests of the root read the repository as a whole. */
const ALWAYS = /^test\/[^/]+$/
/** The quoted paths in a file: imports, the bodies of threads, the files of processes. */
const QUOTED = /['"`]((?:\.{1,2}|packages|test|docs)\/[^'"`\n$]+|@postrider\/[\w/-]+)['"`]/g
/** A service in a test has an API or a relay only if the test opens it, and a process only if the test names it. */
const OPENED: readonly { file: string; specifier: string; by: RegExp }[] = [
  { file: 'test/helpers/service.ts', specifier: '@postrider/api', by: /\bopenApi\b/ },
  { file: 'test/helpers/service.ts', specifier: '@postrider/relay', by: /\bopenRelay\b/ },
  ...[
    { specifier: 'packages/api/src/server.ts', by: /'api'/ },
    { specifier: 'packages/relay/src/server.ts', by: /'relay'/ },
    { specifier: 'packages/delivery/src/worker.ts', by: /'delivery'/ },
    { specifier: 'packages/relay/src/returns-server.ts', by: /'returns'/ },
    { specifier: 'packages/sandbox/src/server.ts', by: /'sandbox'/ },
  ].map((process) => ({ file: 'test/helpers/processes.ts', ...process })),
]

/** Parts of an API that every test with an API has, but only those use that name them. */
const USED: readonly { part: string; by: RegExp }[] = [
  ...['accounts/', 'content/', 'domains/', 'messages/message', 'reporting/', 'suppressions/'].map((part) => ({
    part: `packages/api/src/v2/${part}`,
    by: /\/v2\/(?!sendEmail)/,
  })),
  { part: 'packages/api/src/v3/', by: /\bv3\b|sendgrid/i },
  { part: 'packages/api/src/operator/', by: /\/operator\/|operatorKey/ },
  { part: 'packages/dashboard/src/', by: /\/app\b|dashboard/ },
]

/**
 * Returns those of `tests` that a change touches: the files that differ from the merge base with the branch `main`, those not
 * committed included, are such a test or something that it imports, however indirectly. Returns all of them if that cannot be told.
 */
export function changedTests(
  root: string,
  tests: readonly string[],
  changed: readonly string[] = changedFiles(root),
): string[] {
  const imports = createImports(root)
  const helpers = OF_ALL.flatMap(imports.of).filter((file) => file.startsWith('test/helpers/'))
  const ofAll = new Set([...OF_ALL, ...helpers])
  const tellsNothing = (file: string) => ofAll.has(file) || !(TRACED.test(file) || READ_BY_NAME.test(file))
  const why = changed.find(tellsNothing)
  if (why !== undefined) {
    process.stdout.write(`every test runs: ${why} has changed\n`)
    return [...tests]
  }
  return tests.filter((test) => ALWAYS.test(test) || touches(changed, [...reached(test, imports)], imports))
}

/** Whether one of the changed files is among those that a test reaches, and is not a part that it does not use. */
function touches(changed: readonly string[], reached: readonly string[], imports: Imports): boolean {
  const used = changed.filter((file) => {
    const part = USED.find((one) => file.startsWith(one.part))
    return (
      !part ||
      reached.some((one) => one.startsWith('test/') && (part.by.test(one) || part.by.test(imports.textOf(one))))
    )
  })
  const touched = new Set(used.flatMap((file) => [file, ...foldersOf(file)]))
  return reached.some((file) => touched.has(file))
}

/** The folders of a file that a path in a test may name; not those of the first level, which are only where a path begins. */
function foldersOf(file: string): string[] {
  const parts = file.split('/')
  return parts.slice(2).map((_, at) => parts.slice(0, at + 2).join('/'))
}

function changedFiles(root: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  const base = git('merge-base', 'HEAD', 'main').trim()
  const listed = [
    git('diff', '--name-only', '--no-renames', '-z', base),
    git('ls-files', '--others', '--exclude-standard', '-z'),
  ]
  return listed.flatMap((names) => names.split('\0')).filter((name) => name !== '')
}

interface Imports {
  of(file: string): readonly string[]
  textOf(file: string): string
  resolve(file: string, quoted: string): string
}

function createImports(root: string): Imports {
  const texts = new Map<string, string>()
  const found = new Map<string, readonly string[]>()
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? (isFile(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '')
    texts.set(file, text)
    return text
  }
  const resolve = (file: string, quoted: string): string => {
    const [, name, entry] = /^@postrider\/(\w+)(\/.*)?$/.exec(quoted) ?? []
    if (name === undefined)
      return withoutSlash(quoted.startsWith('.') ? join(dirname(file), quoted) : normalize(quoted))
    const { exports } = JSON.parse(textOf(`packages/${name}/package.json`)) as { exports: Record<string, string> }
    return normalize(join('packages', name, exports[`.${entry ?? ''}`] as string))
  }
  const of = (file: string): readonly string[] => {
    const known = found.get(file)
    if (known) return known
    const opened = OPENED.filter((one) => one.file === file).map(({ specifier }) => specifier)
    const quoted = file.endsWith('.ts') ? [...textOf(file).matchAll(QUOTED)].map(([, path]) => path as string) : []
    const files = [...new Set(quoted)].filter((path) => !opened.includes(path)).map((path) => resolve(file, path))
    found.set(file, files)
    return files
  }
  return { of, textOf, resolve }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

const withoutSlash = (path: string): string => path.replace(/\/$/, '')

/** Returns the file and all it imports. */
function reached(file: string, imports: Imports): Set<string> {
  const all = new Set<string>()
  const add = (one: string) => {
    if (all.has(one)) return
    all.add(one)
    for (const next of imports.of(one)) add(next)
  }
  add(file)
  for (const { file: opener, specifier, by } of OPENED) {
    if (!all.has(opener)) continue
    const opens = [...all].some((one) => one !== opener && one.startsWith('test/') && by.test(imports.textOf(one)))
    if (opens) add(imports.resolve(opener, specifier))
  }
  return all
}
