import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaVersion } from '../database/migrations/migration-files.ts'

/** The facts that tell one installation of this program from another. */
export interface ProgramBuild {
  /** As in package.json. */
  readonly version: string
  /** The first 12 digits of the commit that it was made from; null if neither a package nor a checkout says so. */
  readonly commit: string | null
  /** The number of the last migration. */
  readonly schema: number
}

/** A package has the commit in it (deploy/npm/pack.ts), and that of Debian says so (deploy/debian/build.ts). */
const OWN = new URL('../../../package.json', import.meta.url)
const GIT = fileURLToPath(new URL('../../../../../.git', import.meta.url))
const DIGITS = 12

let known: ProgramBuild | undefined

/** Returns the version of this program, as its metrics, traces, health check and pages state it. Read once. */
export function programBuild(): ProgramBuild {
  if (known) return known
  const { version, commit = commitOfCheckout() } = own()
  known = { version, commit: commit?.slice(0, DIGITS) ?? null, schema: schemaVersion() }
  return known
}

interface OwnPackage {
  readonly version: string
  readonly commit?: string
  readonly packaging?: 'debian'
}

function own(): OwnPackage {
  return JSON.parse(readFileSync(OWN, 'utf8')) as OwnPackage
}

const isPackage = (): boolean => own().commit !== undefined

/** `0.2.0 (commit 0123456789ab, schema 102)` */
export function buildText({ version, commit, schema }: ProgramBuild = programBuild()): string {
  return `${version} (${commit === null ? '' : `commit ${commit}, `}schema ${schema})`
}

/** How a person starts the service here, and how the beginning of a command is written. */
export function commandLines(): { readonly start: string; readonly command: string; readonly hasUnit: boolean } {
  if (own().packaging === 'debian')
    return { start: 'systemctl enable --now postrider', command: 'postrider', hasUnit: true }
  return isPackage()
    ? { start: 'npx postrider', command: 'npx postrider', hasUnit: false }
    : { start: 'npm start', command: 'npm run -s postrider --', hasUnit: false }
}

/** Starts a process that does not run, as a line for people: `npm start, or only the inbox: node FILE`. A package has no files for single processes. */
export function startLine(what: string, file: string): string {
  return isPackage() ? commandLines().start : `${commandLines().start}, or only ${what}: node ${file}`
}

/** Read from git's files: the program may be there without git. In a worktree `.git` is a file that names the folder. */
function commitOfCheckout(): string | undefined {
  try {
    const folder = statSync(GIT).isDirectory() ? GIT : readFileSync(GIT, 'utf8').replace('gitdir:', '').trim()
    const head = readFileSync(join(folder, 'HEAD'), 'utf8').trim()
    if (!head.startsWith('ref: ')) return commitIn(head)
    const name = head.slice('ref: '.length)
    const common = read(join(folder, 'commondir'))
    const shared = common === undefined ? folder : resolve(folder, common.trim())
    const packed = read(join(shared, 'packed-refs'))?.split('\n') ?? []
    return commitIn(read(join(shared, name)) ?? packed.find((line) => line.endsWith(` ${name}`)))
  } catch {
    return undefined
  }
}

function read(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false }) && readFileSync(file, 'utf8')
}

function commitIn(text: string | undefined): string | undefined {
  return text && /^[0-9a-f]{40,64}/.exec(text)?.[0]
}
