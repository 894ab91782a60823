import type { Core } from '@postrider/core'
import { type Command, requiredWord } from '../command.ts'

interface Removal {
  /** Such as "smart-host". */
  readonly kind: string
  readonly summary: string
  readonly remove: (core: Core, name: string) => Promise<void>
}

/** A command that removes an object by its name: `KIND remove NAME`. */
export function removeCommand({ kind, summary, remove }: Removal): Command {
  return {
    name: `${kind} remove`,
    usage: 'NAME',
    summary,
    run: (call) => {
      const name = requiredWord(call, 'name')
      return call.withCore(async (core) => {
        await remove(core, name)
        return { data: { removed: name }, text: `${kind.replace('-', ' ')} ${name} removed` }
      })
    },
  }
}
