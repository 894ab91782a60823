import type { Command } from '../../command.ts'
import { up } from '../../up.ts'

export const upCommands: readonly Command[] = [
  {
    name: 'up',
    usage: '',
    summary: 'Start all processes and keep them running',
    detail: 'These are the database, API, relay, delivery, returns and sandbox inbox. SIGHUP replaces them one by one',
    async run({ config, env }) {
      process.exit(await up(config, env))
    },
  },
]
