import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BREAKS } from './breaks.ts'

/**
 * A journey that passes whatever the build does proves nothing. Each of these breaks one thing in a copy of the tree, runs the
 * journey that guards it, and wants to see it fail.
 */
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
      `${evaluated(run.status, why)}: a build that ${broken.name} (${broken.journey})${why ? `: ${why}` : ''}\n`,
    )
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
process.exitCode = survivors === 0 ? 0 : 1

function evaluated(status: number | null, why: string | undefined): string {
  if (why !== undefined) return 'failed, as it must'
  return status === 0 ? 'PASSED, BUT MUST NOT' : 'FAILED WITHOUT A TEST'
}
