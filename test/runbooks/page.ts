import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { postrider, type Ran, shell } from '../cli/postrider.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const RUNBOOKS = 'docs/runbooks.md'
/** Nothing for a shell to interpret, so that the command can be run in this process. */
const PLAIN = /^postrider [^|&;<>()$`\\]*$/
const BLOCK = /^```(sh|sql)\n(.*?)^```$/gms

/** The programs that the pages use besides postrider; undefined if all are there. */
export function missingForPages(): string | undefined {
  return ['psql', 'curl', 'openssl'].find((name) => {
    try {
      return execFileSync('which', [name]).length === 0
    } catch {
      return true
    }
  })
}

/** The commands of one section of a page: the blocks of code between its heading and the next one. */
export interface Section {
  /** Runs the command that begins with `begin`, with each placeholder replaced, as an operator would. */
  run(begin: string, values?: Readonly<Record<string, string>>): Promise<Ran>
  /** The command, for what goes on running or is of another machine. */
  take(begin: string, values?: Readonly<Record<string, string>>): string
  /** Each command was run or taken. */
  done(t: Test): void
}

export function openSection(heading: string, env: Readonly<Record<string, string>>, page = RUNBOOKS): Section {
  const commands = commandsOf(readFileSync(join(ROOT, page), 'utf8'), heading)
  const left = new Set(commands)
  const take = (begin: string, values: Readonly<Record<string, string>> = {}): string => {
    const same = commands.filter((command) => command === begin)
    const found = same.length > 0 ? same : commands.filter((command) => command.startsWith(begin))
    if (found.length !== 1) throw new Error(`${found.length} commands of "${heading}" begin with "${begin}"`)
    left.delete(found[0] as string)
    return fill(found[0] as string, values)
  }
  return {
    take,
    async run(begin, values) {
      const command = take(begin, values)
      if (/^select/i.test(command)) return sqlByPsql(env, command)
      if (PLAIN.test(command)) return postrider(env, ...wordsOf(command).slice(1))
      return shell(command, { ...env, PATH: `${programFolder()}:${BARE_ENVIRONMENT.PATH}` })
    },
    done(t) {
      t.strictSame([...left], [], `each command of "${heading}" was run`)
    },
  }
}

function commandsOf(page: string, heading: string): string[] {
  const at = page.search(new RegExp(`^#+ ${heading}$`, 'm'))
  if (at < 0) throw new Error(`there is no section "${heading}"`)
  const section = page.slice(page.indexOf('\n', at))
  const [text = ''] = section.split(/^#+ (?=[A-Z])/m)
  return [...text.matchAll(BLOCK)].flatMap(([, language, block = '']) =>
    (language === 'sql' ? block.split(/;$/m) : block.split('\n').map((line) => line.replace(/(?:^|\s+)# .*/, '')))
      .map((command) => command.trim())
      .filter((command) => command !== ''),
  )
}

/** Every placeholder of the command has a value, and each value a placeholder. */
function fill(command: string, values: Readonly<Record<string, string>>): string {
  let filled = command
  for (const [name, value] of Object.entries(values)) {
    if (!filled.includes(name)) throw new Error(`"${command}" has no ${name}`)
    filled = filled.replaceAll(name, value)
  }
  const given = Object.keys(values).join()
  const missing = PLACEHOLDERS.find((name) => !given.includes(name) && new RegExp(`\\b${name}\\b`).test(command))
  if (missing) throw new Error(`"${filled}" still has ${missing}`)
  return filled
}

const PLACEHOLDERS = [
  'ACCOUNT',
  'ADDRESS',
  'HOST',
  'KEY',
  'NEW_DATA',
  'PID',
  'PLAN',
  'PREVIOUS',
  'PROVIDER',
  'REASON',
  'TIME',
]

function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
}

function sqlByPsql(env: Readonly<Record<string, string>>, statement: string): Promise<Ran> {
  return shell(`psql "$DATABASE_URL" -X -A -t -F ' | ' -c "$STATEMENT"`, { ...env, STATEMENT: statement })
}

let folder: string | undefined
/** A folder with the program `postrider`, as the pages write it. */
function programFolder(): string {
  if (folder) return folder
  folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'program-'))
  const file = join(folder, 'postrider')
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'packages/cli/src/postrider.ts')}' "$@"\n`)
  chmodSync(file, 0o755)
  return folder
}

/** The number of the plan that a command of the queue printed. */
export function planOf({ stdout, stderr }: Ran): string {
  const plan = /^plan (\d+)/m.exec(stdout)?.[1]
  if (!plan) throw new Error(`no plan: ${stdout}${stderr}`)
  return plan
}

/** Reads a gauge or counter of a process: the sum over the labels that match. */
export async function metric(port: string | number, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const rows = text.split('\n').filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)))
  const matching = rows.filter((line) => line.includes(labels))
  if (rows.length === 0) throw new Error(`no metric ${name}`)
  return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** The threshold of an alert `max(METRIC) > THRESHOLD` or `< THRESHOLD` that refers to the section. */
export function threshold(alert: string, anchor: string): { readonly metric: string; readonly above: number } {
  const rule = ruleOf(alert, anchor)
  const [, name, above] = /^max\((\w+)\) > (\S+)$/.exec(rule) ?? []
  if (name === undefined) throw new Error(`${alert} is another kind of alert: ${rule}`)
  return { metric: name, above: Number(above) }
}

/** The expression of an alert. Throws if its runbook is not this section. */
export function ruleOf(alert: string, anchor: string): string {
  const { groups } = parse(readFileSync(join(ROOT, 'deploy/prometheus/alerts.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string; annotations: { runbook: string } }[] }[]
  }
  const rule = groups.flatMap(({ rules }) => rules).find((one) => one.alert === alert)
  if (rule?.annotations.runbook !== `${RUNBOOKS}#${anchor}`) throw new Error(`${alert} does not lead to #${anchor}`)
  return rule.expr.trim()
}
