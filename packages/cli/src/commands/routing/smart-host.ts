import { text } from 'node:stream/consumers'
import { CLASS_PROBLEM, classOf, DELIVERY_CLASSES, isClassName, type SmartHost, withoutSecret } from '@postrider/core'
import { type Command, UsageError } from '../../command.ts'
import { tableOr } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { removeCommand } from '../remove-command.ts'

export const smartHostCommands: readonly Command[] = [
  coreCommand({
    name: 'smart-host list',
    usage: '',
    summary: 'List the relay hosts that deliver what the usual route cannot',
    run: async (core) => {
      const all = (await core.sources.smartHosts()).map(withoutSecret)
      const rows = all.map((one) => [one.name, `${one.host}:${one.port}`, one.usedFor.join(','), ...limitsOf(one)])
      const heading = ['smart host', 'host', 'for', 'classes', 'daily cap']
      return { data: { smartHosts: all }, text: tableOr('no smart hosts', heading, rows) }
    },
  }),
  coreCommand({
    name: 'smart-host add',
    usage: 'NAME --url URL|- --for USES [--class CLASSES] [--daily-cap N]',
    summary: 'Deliver through a relay host what the usual route cannot',
    detail: 'Allow the addresses of the relay host in the SPF record of RETURN_PATH_HOST',
    parameters: {
      url: 'smtp://user:password@host:port; "-" reads it from stdin',
      for:
        'One or several of blocked (a back-off rule pauses the provider until after the lifetime of a message), deadline (half ' +
        'of the lifetime has passed without a session) and spill (the allowances of new sources are used up), separated by commas',
      class: 'Classes of mail, separated by commas (default: all)',
      'daily-cap': 'Maximum number of messages per day',
    },
    examples: ['smart-host add backup --url - --for deadline,spill < url.txt'],
    prepare: async ({ NAME: name, class: classes, 'daily-cap': dailyCap, url: option, for: forGiven }) => {
      const usedFor = listOf(forGiven)
      const classNames = classes === undefined ? undefined : listOf(classes)
      if (classNames && !classNames.every(isClassName))
        throw new UsageError(`--class ${CLASS_PROBLEM}, or several of them`)
      const url = (option === '-' ? await text(process.stdin) : option).trim()
      return async (core) => {
        const added = { name, url, usedFor, classes: classNames?.map(classOf), dailyCap }
        const smartHost = await core.sources.addSmartHost(added)
        return { data: { smartHost }, text: `smart host ${name} added` }
      }
    },
  }),
  removeCommand({
    kind: 'smart-host',
    summary: 'Remove a smart host; the mail that waits for it takes the usual route',
    list: (core) => core.sources.smartHosts(),
    remove: (core, name) => core.sources.removeSmartHost(name),
  }),
]

function listOf(option: string): string[] {
  return option
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
}

function limitsOf({ classes, dailyCap }: SmartHost): unknown[] {
  return [classes === null ? 'all' : classes.map((one) => DELIVERY_CLASSES[one]).join(','), dailyCap ?? 'none']
}
