import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { V3_OPERATIONS } from '@postrider/api'
import { ABSENT } from '../api/v3/conformance/absent.ts'
import { OPERATION_ROWS, ROWS, type Row } from '../api/v3/conformance/rows.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Path of docs/v3-conformance.md. */
export const CONFORMANCE_PAGE = join(ROOT, 'docs/v3-conformance.md')

/** The test that proves a row. */
export interface Proof {
  readonly file: string
  readonly title: string
}

const INTRODUCTION = `# Conformance of the migration API

This page is generated from the tests by \`npm run docs\`. Each row names the test that proves it.
The rows of operations are those of the API's table of operations; those of parameters are in \`test/api/v3/conformance/\`.

- honour: supported
- ignore: accepted without effect
- reject: returns an error

The column "contract" names sections of [contract-v3.md](contract-v3.md).
`

/** Returns the first proof of each row: the title of the test that calls `proves(t, 'id')`. */
export function proofs(): ReadonlyMap<string, Proof> {
  const found = new Map<string, Proof>()
  for (const file of globSync('test/**/*.test.ts', { cwd: ROOT }).sort()) {
    const source = readFileSync(join(ROOT, file), 'utf8')
    const titles = [...source.matchAll(/\btest\(\s*'((?:[^'\\]|\\.)*)'/g)]
    for (const call of source.matchAll(/\bproves\(\s*t,([^)]*)\)/g)) {
      const title = titles.findLast(({ index }) => index < call.index)?.[1] ?? ''
      for (const [, id = ''] of (call[1] ?? '').matchAll(/'([^']+)'/g)) {
        if (!found.has(id)) found.set(id, { file, title: title.replaceAll("\\'", "'") })
      }
    }
  }
  return found
}

/** Returns the page. */
export function conformancePage(): string {
  const known = proofs()
  const operations = OPERATION_ROWS.map((row, at) => [
    `\`${row.parameter}\``,
    V3_OPERATIONS[at]?.summary ?? '',
    V3_OPERATIONS[at]?.section ?? '',
    proofOf(row, known),
  ])
  const parameters = ROWS.map((row) => [row.parameter, row.treatment, row.note ?? '', proofOf(row, known)])
  const absent = ABSENT.map(({ operations, reason }) => [operations.map((one) => `\`${one}\``).join(', '), reason])
  const here = V3_OPERATIONS.filter(({ status }) => status !== 400)
  const not = ABSENT.flatMap((one) => one.operations)
  const counts =
    `${V3_OPERATIONS.length} operations below /v3: ${here.length} answer, ${V3_OPERATIONS.length - here.length} refuse every call with words. ` +
    `${not.length} more that other clients may call are not here, for the reasons below.\n`
  return [
    INTRODUCTION,
    counts,
    '## Operations\n',
    table(['operation', 'effect', 'contract', 'proved by'], operations),
    '## Parameters\n',
    table(['parameter', 'treatment', 'note', 'proved by'], parameters),
    '## Not here\n',
    'These get 404, or 405 where the path has other methods; letters and numbers stand for names and ids.\n',
    table(['operations', 'reason'], absent),
  ].join('\n')
}

function proofOf({ id, pending }: Row, known: ReadonlyMap<string, Proof>): string {
  const proof = known.get(id)
  if (proof) return `${proof.title} (\`${proof.file}\`)`
  return pending ? 'not yet' : ''
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, heading.map(() => '---'), ...rows]
  return `${lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')}\n`
}

if (import.meta.main) writeFileSync(CONFORMANCE_PAGE, conformancePage())
