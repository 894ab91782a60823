import type { Command } from '../command.ts'
import { up } from '../up.ts'

export const upCommands: readonly Command[] = [
  {
    name: 'up',
    usage: '',
    summary: 'Start all processes and keep them running: database, API, relay, delivery, sandbox inbox',
    async run({ config, env }) {
      process.exit(await up(config, env))
    },
  },
]
