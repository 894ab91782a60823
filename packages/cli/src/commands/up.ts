import type { Command } from '../command.ts'
import { up } from '../up.ts'

export const upCommands: readonly Command[] = [
  {
    name: 'up',
    usage: '',
    summary: 'Start all processes and keep them running: database, API, relay, delivery, sandbox inbox',
    options: {},
    async run({ config, env }) {
      process.exit(await up(config, env))
    },
  },
  {
    name: 'migrate',
    usage: '',
    summary: 'Migrate the database schema to this version',
    options: {},
    creates: true,
    migrates: true,
    run: (call) => call.withCore(async () => ({ data: { migrated: true }, text: 'the schema is up to date' })),
  },
]
