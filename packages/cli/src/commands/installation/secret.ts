import { type Core, type SealedCount, type UnawareProgram, UnawareProgramsError } from '@postrider/core'
import { type Answer, type Call, type Command, CommandError } from '../../command.ts'
import { counted, firstOf } from '../../doctor/check-result.ts'
import { progressOn, SILENT } from '../../importing/progress.ts'
import { table } from '../../table.ts'

export const secretCommands: readonly Command[] = [
  {
    name: 'secret status',
    usage: '',
    summary: 'Show which SECRET_KEY is in use, and what is still sealed with a former one',
    examples: ['secret status'],
    run: (call) => call.withCore(showStatus),
  },
  {
    name: 'secret rotate',
    usage: '',
    summary: 'Make SECRET_KEY the key in use, and seal everything stored with it',
    detail:
      'Every process must have been started with the new value in SECRET_KEY and the former one in SECRET_KEY_PREVIOUS; otherwise ' +
      'nothing changes, and the exit status is 1. An interrupted rotation continues with the same command',
    examples: ['secret rotate'],
    run: runRotate,
  },
]

const NO_PREVIOUS =
  'SECRET_KEY_PREVIOUS is not set: start all processes, and this command, with the new value in SECRET_KEY and the former one in SECRET_KEY_PREVIOUS'
const KEEP =
  'Links and return paths of mail that was sent before need SECRET_KEY_PREVIOUS for as long as they are to work; nothing else does.'
const EXCHANGED =
  'After a complete rotation, that is as it should be. Otherwise SECRET_KEY has the former value: set it to the new one and ' +
  'SECRET_KEY_PREVIOUS to the former one, restart all processes, and repeat this command.'

async function showStatus({ keys }: Core): Promise<Answer> {
  const [{ inUse, resealed, previous }, sealed] = [await keys.state(), await keys.count()]
  const unaware = previous > 0 && !inUse ? await keys.unaware() : []
  const lines = [
    inUse ? 'SECRET_KEY is in use.' : 'A key of SECRET_KEY_PREVIOUS is in use.',
    countTable(sealed, 'with a former key'),
    ...(unaware.length > 0 ? [unawareText(unaware)] : []),
    ...(inUse && resealed ? [] : ['Next: postrider secret rotate']),
    ...(inUse && resealed && previous > 0 ? [KEEP] : []),
  ]
  return { data: { inUse, resealed, previous, unaware, sealed }, text: lines.join('\n') }
}

async function runRotate(call: Call): Promise<Answer> {
  const progress = call.stderr.isTTY && !call.options.json ? progressOn(call.stderr) : SILENT
  return call.withCore(async ({ keys }) => {
    const { inUse, resealed, previous } = await keys.state()
    if (previous === 0 && !(inUse && resealed)) throw new CommandError(NO_PREVIOUS)
    if (previous === 0) throw new CommandError(`nothing to rotate: ${NO_PREVIOUS}`)
    const sealed = await keys
      .rotate({ report: (what, rows) => progress.show(what, rows, rows) })
      .catch((error: unknown) => {
        throw error instanceof UnawareProgramsError ? new CommandError(unawareText(error.programs)) : error
      })
    progress.end()
    const unreadable = sealed.some((one) => one.unreadable > 0)
    const rotated = !(inUse && resealed)
    const text = [
      `SECRET_KEY ${
        rotated ? 'is in use' : 'was in use before, so nothing was ' + 'rotated'
      }, and everything stored ${unreadable ? 'that can be read ' : ''}is sealed with it.`,
      countTable(sealed, 'resealed now'),
      ...(unreadable ? ['Unreadable values are sealed with a key that is not known, or damaged.'] : []),
      rotated ? KEEP : EXCHANGED,
    ]
    return { data: { rotated, sealed }, text: text.join('\n') }
  })
}

/** `former`: what the values that were sealed with a former key are called, which a rotation has sealed again. */
function countTable(counts: readonly SealedCount[], former: string): string {
  return table(
    ['sealed values', 'all', former, 'unreadable'],
    counts.map((one) => [one.what, ...[one.sealed, one.former, one.unreadable].map(String)]),
  )
}

function unawareText(programs: readonly UnawareProgram[]): string {
  const listed = programs.map(({ program, address, ports, connections }) => {
    const from = ports.length > 0 ? `, from ${ports.length === 1 ? 'port' : 'ports'} ${firstOf(ports.map(String))}` : ''
    return `${program} on ${address ?? 'the database host'} (${counted(connections, 'connection')}${from})`
  })
  return `these were not started with this SECRET_KEY and with SECRET_KEY_PREVIOUS: ${listed.join(
    ', ' + '',
  )}; restart them with both, then repeat this command ("ss -tnp" on a host shows which process has a port)`
}
