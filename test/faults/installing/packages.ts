import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { ROOT } from './bare.ts'

/*
 * The files of a release, of this commit. Those that are there are taken if they are of it and nothing has changed since: the Debian package takes minutes.
 * REUSE=1 takes them whatever they are of, while a test is written. `npm run test:package` runs this file first: two test files that made them at once
 * read each other's halves.
 */

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64'

const once = (make: () => string): (() => string) => {
  let made: string | undefined
  return () => (made ??= make())
}

/** The npm package. */
export const packageFile = once(() => {
  const [file] = globSync(`${ROOT}dist/postrider-*.tgz`)
  return file !== undefined && (process.env.REUSE || isOfThisCommit(file)) ? file : lastLine('deploy/npm/pack.ts')
})

export const debianFile = once(() => {
  const packed = packageFile()
  const [file] = globSync(`${ROOT}dist/postrider_*_${ARCHITECTURE}.deb`)
  const isNewer = file !== undefined && statSync(file).mtimeMs > statSync(packed).mtimeMs
  return isNewer ? file : lastLine('deploy/debian/build.ts')
})

function isOfThisCommit(file: string): boolean {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const built = execFileSync('tar', ['-xzOf', file, 'package/packages/core/package.json'], { encoding: 'utf8' })
  return JSON.parse(built).commit === git('rev-parse', 'HEAD') && git('status', '--porcelain') === ''
}

/** The path that a program of deploy prints last. */
function lastLine(program: string): string {
  const said = execFileSync(process.execPath, [program], { cwd: ROOT, encoding: 'utf8' })
  return said.trim().split('\n').at(-1) as string
}

if (import.meta.main) debianFile()
