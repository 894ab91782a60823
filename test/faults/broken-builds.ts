import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * A journey that passes whatever the build does proves nothing. Each of these breaks one thing in a copy of the tree, runs the
 * journey that guards it, and wants to see it fail.
 */
interface Break {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly journey: string
}

const BREAKS: readonly Break[] = [
  {
    name: 'acknowledges before the commit',
    file: 'packages/core/src/messages/accept.ts',
    find: 'const written = await commit.add(message)',
    replace: 'void commit.add(message).catch(() => {})\n      const written = { stored: true, queued: true }',
    journey: 'test/journeys/commit.test.ts',
  },
  {
    name: "never takes over a lost worker's deliveries",
    file: 'packages/core/src/delivery/lease.ts',
    find: 'return lost.length === 0 ? 0 :',
    replace: 'return lost.length >= 0 ? 0 :',
    journey: 'test/journeys/crashes.test.ts',
  },
  {
    name: 'writes the final dot without lease and note',
    file: 'packages/delivery/src/recorder.ts',
    find: 'markDot: (dot) => dots.add(dot)',
    replace: 'markDot: async (dot) => dot !== undefined || dots.size < 0',
    journey: 'test/journeys/crashes.test.ts',
  },
  {
    name: 'claims what others hold',
    file: 'packages/core/src/delivery/queue.ts',
    find: 'where worker_id is null and next_at <= service_now() and next_at >=',
    replace: 'where next_at <= service_now() and next_at >=',
    journey: 'test/journeys/drain.test.ts',
  },
  {
    name: 'goes to the next MX after a lost final dot',
    file: 'packages/delivery/src/conversation.ts',
    find: "if (end.kind === 'lost' && end.stage === 'mail')",
    replace: "if ((end.kind === 'lost' && end.stage === 'mail') || end.kind === 'indeterminate')",
    journey: 'test/delivery/indeterminate.test.ts',
  },
  {
    name: 'tries again at once after a lost final dot',
    file: 'packages/core/src/delivery/record.ts',
    find: 'return outcome.indeterminate ? Math.max(delay, INDETERMINATE_WAIT_SECONDS) : delay',
    replace: 'return outcome.indeterminate ? Math.min(1, INDETERMINATE_WAIT_SECONDS) : delay',
    journey: 'test/delivery/indeterminate.test.ts',
  },
  {
    name: 'takes mail on a database that may lose it',
    file: 'packages/core/src/readiness.ts',
    find: 'if (allowed) return []',
    replace: 'if (allowed || !allowed) return []',
    journey: 'test/core/readiness.test.ts',
  },
  {
    name: 'signs header fields once only, so that a second one goes unnoticed',
    file: 'packages/delivery/src/dkim.ts',
    find: 'names.push(...OVERSIGNED)',
    replace: '',
    journey: 'test/delivery/dkim.test.ts',
  },
  {
    name: 'answers an idempotency key whatever comes with it',
    file: 'packages/core/src/messages/idempotency.ts',
    find: 'if (!fingerprint || !first.fingerprint.equals(fingerprint)) throw',
    replace: 'if (first.fingerprint.length === 0) throw',
    journey: 'test/relay/idempotency.test.ts',
  },
]

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const only = process.argv[2]
let survivors = 0
for (const broken of BREAKS) {
  if (only && !broken.name.includes(only)) continue
  const copy = mkdtempSync(join(tmpdir(), 'postrider-broken-'))
  try {
    // Hard links: a copy of everything in a second; only the broken file becomes a file of its own.
    execFileSync('sh', ['-c', `cp -al "$1"/. "$2" && rm -rf "$2/data" "$2/.git"`, 'sh', ROOT, copy])
    const file = join(copy, broken.file)
    const source = readFileSync(file, 'utf8')
    if (!source.includes(broken.find)) throw new Error(`${broken.file} does not contain: ${broken.find}`)
    rmSync(file)
    writeFileSync(
      file,
      source.replace(broken.find, () => broken.replace),
    )
    const node = join(copy, 'node_modules/.bin/node')
    const run = spawnSync(node, ['test/run.ts', broken.journey], { cwd: copy, encoding: 'utf8' })
    // A file that is missing or does not load fails too, and proves nothing: a test must have said no.
    const why = run.status === 0 ? undefined : /^ {4}not ok \d+ - (.*)$/m.exec(run.stdout)?.[1]
    if (why === undefined) survivors++
    process.stdout.write(
      `${judged(run.status, why)}: a build that ${broken.name} (${broken.journey})${why ? `: ${why}` : ''}\n`,
    )
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
process.exitCode = survivors === 0 ? 0 : 1

function judged(status: number | null, why: string | undefined): string {
  if (why !== undefined) return 'failed, as it must'
  return status === 0 ? 'PASSED, BUT MUST NOT' : 'FAILED WITHOUT A TEST'
}
