import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { OPERATIONS, OPERATOR_OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import type { Known } from '../../bench/growth/call.ts'
import { v2Calls } from '../../bench/growth/calls-v2.ts'
import { v3Calls } from '../../bench/growth/calls-v3.ts'
import { unmeasured } from '../../bench/growth/coverage.ts'
import { wallEntryOf } from './v2/wall/index.ts'
import { wallEntryOf as wallEntryOfV3 } from './v3/wall/index.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** An operation of one of the interfaces, with what the parts of it are found by. */
interface Told {
  readonly api: 'v2' | 'v3' | 'operator'
  readonly name: string
  readonly paths: readonly string[]
  readonly hasWall: boolean
}

const TOLD: readonly Told[] = [
  ...OPERATIONS.map((operation): Told => {
    const { name, routes } = operation
    return { api: 'v2', name, paths: routes.map(([path]) => path), hasWall: wallEntryOf(operation) !== undefined }
  }),
  ...V3_OPERATIONS.map((operation): Told => {
    const { name, path } = operation
    return { api: 'v3', name, paths: [path], hasWall: wallEntryOfV3(operation) !== undefined }
  }),
  ...OPERATOR_OPERATIONS.map(({ name, path }): Told => ({ api: 'operator', name, paths: [path], hasWall: true })),
]

/** Where the parts of an interface's operations are. */
const PLACES = {
  v2: { page: 'the page of its subject in docs', pages: ['docs/*.md'], not: /contract-v2|v3|operator/ },
  v3: { page: 'docs/contract-v3.md, section 7', pages: ['docs/*v3*.md'], not: /v3-conformance/ },
  operator: { page: 'docs/operator-api.md', pages: ['docs/operator-api.md'], not: /^$/ },
} as const

/** Returns what the operations lack, each with the file to put it in. */
export function missingParts(): string[] {
  const measured = [...v2Calls(KNOWN), ...v3Calls(KNOWN)]
  const reads = unmeasured(measured).map(
    (name) => `${name}: a call of it, in bench/growth/calls-${name.slice(0, 2)}.ts`,
  )
  return [...TOLD.flatMap(missingOf), ...reads]
}

function missingOf({ api, name, paths, hasWall }: Told): string[] {
  const { page, pages, not } = PLACES[api]
  const tests = textOf([`test/api/${api}/*.ts`])
  const isTested =
    tests.includes(`'operation.${name}'`) || tests.includes(name) || paths.some((path) => isIn(tests, path))
  const docs = textOf(pages, not)
  const missing = [
    [isTested, `a test of its own, in test/api/${api}`],
    [paths.some((path) => isIn(docs, path)), `its path, in ${page}`],
    [hasWall, `an entry of the wall between accounts, in test/api/${api}/wall`],
  ] as const
  return missing.flatMap(([has, what]) => (has ? [] : [`${api} ${name}: ${what}`]))
}

/**
 * Whether a text has the last word of the path with the parameters behind it, and behind a parameter also that, or the word before it: `messages/ID/tags`,
 * `${id}/tags`. Before these, texts of tests and pages leave things out.
 */
function isIn(text: string, path: string): boolean {
  const [, owner, word = path] = /(?:([^/:]+)(?:\/:\w+)+\/)?([^/:]+)(?:\/:\w+)*$/.exec(path) ?? []
  const [before, last] = [owner, word].map((one) => one?.replaceAll('.', '\\.'))
  const beginning = before === undefined ? '[/`\'"]' : `(?:[/\`'"]${before}(?:/[^/\\s]+)+|\\})/`
  return new RegExp(`${beginning}${last}(?![\\w-])`, 'i').test(text)
}

const texts = new Map<string, string>()

function textOf(patterns: readonly string[], not = /^$/): string {
  const key = patterns.join()
  const known = texts.get(key)
  if (known !== undefined) return known
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter((file) => !not.test(file))
  const text = files.map((file) => readFileSync(`${ROOT}/${file}`, 'utf8')).join('\n')
  texts.set(key, text)
  return text
}

/** What a filled installation has, for which calls of operations that read exist. */
const KNOWN: Known = {
  day: () => '2026-01-05',
  daySeconds: () => 1_767_571_200,
  subaccount: 'dock',
  message: '0',
  sent: '0',
  last: 1000,
  jobId: 'exp_1',
  webhook: '1',
  webhookRequest: '1',
  editableWebhook: '1',
  template: 1,
  legacy: '0',
  version: '0',
  batch: '0',
  keyId: '1',
}
