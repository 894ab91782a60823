import { execFile, execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Everything but most recorded answers, corpora and pictures of the documentation, which no recipe reads. */
const NEEDED = /^packages\/|^(test|docs|sql|bench)\/.+\.(ts|json|sql|md)$|^package\.json$/

/** A new file's text, or what is put before a text that the file has once. */
export type Edit = readonly [file: string, text: string, before?: string]

/** A copy of the tree, to be edited. */
export interface Copy {
  edit(...edits: readonly Edit[]): void
  /** Runs tests of the copy, in one process, with the database of the tree. Throws unless they succeed. */
  run(...files: readonly string[]): Promise<string>
  /** Runs tests of the copy with a database of the copy. */
  runMigrated(...files: readonly string[]): Promise<string>
}

export function copyTree(t: Test): Copy {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'recipe-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 24 }).split('\0')
  for (const file of files) {
    if (!NEEDED.test(file) || !existsSync(join(ROOT, file))) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(ROOT, file), join(folder, file))
  }
  for (const part of ['', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)]) {
    linkModules(part, folder)
  }
  return {
    edit(...edits) {
      for (const [file, text, before] of edits) {
        const path = join(folder, file)
        if (before === undefined) {
          writeFileSync(path, text)
          continue
        }
        const [start, end, ...others] = readFileSync(path, 'utf8').split(before)
        if (end === undefined || others.length > 0) throw new Error(`${file} does not have ${before} once`)
        writeFileSync(path, `${start}${text}${before}${end}`)
      }
    },
    run(...files) {
      const program = files.map((file) => `await import(${JSON.stringify(join(folder, file))})`).join('\n')
      return runNode(['--input-type=module', '--eval', program], folder, process.env)
    },
    runMigrated(...files) {
      const { TEST_DATABASE_URL: _ofTheTree, TEST_FOLDER: _folder, ...env } = process.env
      return runNode(['test/run.ts', ...files], folder, env)
    },
  }
}

function runNode(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(process.execPath, words, { cwd, env, maxBuffer: 2 ** 26 }, (error, output, errors) =>
      error ? reject(new Error(`${words}:\n${output}\n${errors}`)) : resolve(output),
    ),
  )
}

/** The packages of the project are those of the copy; all others are shared. */
function linkModules(part: string, folder: string): void {
  const modules = join(ROOT, part, 'node_modules')
  if (!existsSync(modules)) return
  mkdirSync(join(folder, part, 'node_modules', '@postrider'), { recursive: true })
  for (const name of readdirSync(modules)) {
    if (name !== '@postrider') symlinkSync(join(modules, name), join(folder, part, 'node_modules', name))
  }
  for (const name of existsSync(join(modules, '@postrider')) ? readdirSync(join(modules, '@postrider')) : []) {
    symlinkSync(join(folder, 'packages', name), join(folder, part, 'node_modules/@postrider', name))
  }
}
