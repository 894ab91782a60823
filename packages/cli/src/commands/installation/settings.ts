import { SETTINGS } from '@postrider/core'
import type { Command } from '../../command.ts'
import { readSettings, settingsPath } from '../../settings-file.ts'
import { table } from '../../table.ts'

export const settingsCommands: readonly Command[] = [
  {
    name: 'settings',
    usage: '[--changed]',
    summary: 'Show the settings in force: their values, and where they come from',
    detail: 'Keys and passwords are shown as ***. Settings that are wrong are refused before, as every command does',
    parameters: { changed: 'Only those that differ from their default' },
    examples: ['settings --changed'],
    checksSettings: false,
    async run({ env, options }) {
      const { settings: file } = readSettings(settingsPath(env))
      const all = SETTINGS.map(({ name, default: usual, isSecret }) => {
        const value = env[name] || ''
        const source = value === '' ? 'default' : file[name] === value ? settingsPath(env) : 'environment'
        return { name, value: value === '' ? usual : isSecret ? '***' : withoutPassword(value), source, default: usual }
      })
      const data = options.changed
        ? all.filter(({ source, value, default: usual }) => source !== 'default' && value !== usual)
        : all
      return {
        data,
        text: table(
          ['setting', 'value', 'from'],
          data.map(({ name, value, source }) => [name, value, source]),
        ),
      }
    },
  },
]

/** A value without the password of a URL. */
function withoutPassword(value: string): string {
  return value.replace(/(?<=:\/\/[^:/@]*:)[^/]*(?=@)/, '***').replace(/(?<=[?&]password=)[^&]*/g, '***')
}
