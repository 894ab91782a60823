import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'
import { parse } from '../../packages/cli/src/parser.ts'
import type { Measured } from './call.ts'
import type { Filled } from './fill.ts'
import type { Installation } from './installation.ts'
import { measured } from './measure.ts'

/** The command line's reads, from the open database to the answer: the start of a process is the same for all of them. */
export async function measureCli(
  { env, sql }: Installation,
  { large }: Filled,
  measuring: Parameters<typeof measured>[2],
): Promise<Measured[]> {
  const config = readConfig(env)
  const own = openDatabase({ url: env.DATABASE_URL ?? '', name: 'growth cli', connections: 4 })
  const core = createCore({ sql: own, config, log: createLog('cli', 'silent') })
  const [message] = await sql<{ id: string }[]>`select id::text as id from messages where account_id = ${large} limit 1`
  const account = `--account ${large}`
  const lines = [
    'account list',
    `account settings ${large}`,
    `account limit ${large}`,
    `domain list ${account}`,
    'domain list',
    `key list ${account}`,
    `credits show ${large}`,
    `events ${account}`,
    `events ${account} --after 7000000`,
    `message show ${message?.id}`,
    `message why ${message?.id}`,
    `suppression list ${account}`,
    `suppression list ${account} --reason abuse`,
    'suppression list --global',
    `suppression list ${account} --email s3@d3.example`,
  ]
  try {
    const found: Measured[] = []
    for (const line of lines) {
      const run = async () => {
        const began = performance.now()
        const said = await act(line).then(
          () => ({ status: 200, text: '' }),
          (error: Error) => ({ status: 500, text: error.message }),
        )
        return { milliseconds: performance.now() - began, ...said }
      }
      found.push(await measured(`cli ${line}`, run, measuring))
    }
    return found
  } finally {
    core.readiness.close()
    await own.end({ timeout: 5 })
  }

  async function act(line: string): Promise<void> {
    const parsed = parse(COMMANDS, line.split(' '), process.stdout, { hasColours: false })
    if (!parsed) throw new Error(`"${line}" is not a command`)
    const { command, options, words } = parsed
    await command.run({
      options,
      words,
      commands: COMMANDS,
      config,
      env,
      stderr: process.stderr,
      withCore: (use) => use(core),
    })
  }
}
