import type { Core } from '@postrider/core'
import { type Command, CommandError } from '../command.ts'
import { coreCommand } from './core-command.ts'

interface Removal {
  /** Such as "smart-host". */
  readonly kind: string
  readonly summary: string
  readonly list: (core: Core) => Promise<readonly { readonly name: string }[]>
  readonly remove: (core: Core, name: string) => Promise<void>
}

/** A command that removes an object by its name: `KIND remove NAME`. */
export function removeCommand({ kind, summary, list, remove }: Removal): Command {
  return coreCommand({
    name: `${kind} remove`,
    usage: 'NAME',
    destroys: true,
    summary,
    look: async (core, { NAME: name }) => {
      if ((await list(core)).some((one) => one.name === name)) return
      throw new CommandError(`${kind.replace('-', ' ')} "${name}" not found; "${kind} list" lists them`)
    },
    run: async (core, { NAME: name }) => {
      await remove(core, name)
      return { data: { removed: name }, text: `${kind.replace('-', ' ')} ${name} removed` }
    },
  })
}
