import type { Core } from '@postrider/core'
import type { Command } from '../command.ts'
import { coreCommand } from './core-command.ts'

interface Removal {
  /** Such as "smart-host". */
  readonly kind: string
  readonly summary: string
  readonly remove: (core: Core, name: string) => Promise<void>
}

/** A command that removes an object by its name: `KIND remove NAME`. */
export function removeCommand({ kind, summary, remove }: Removal): Command {
  return coreCommand({
    name: `${kind} remove`,
    usage: 'NAME',
    destroys: true,
    summary,
    run: async (core, { NAME: name }) => {
      await remove(core, name)
      return { data: { removed: name }, text: `${kind.replace('-', ' ')} ${name} removed` }
    },
  })
}
