import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bare, Served, Shell } from './bare.ts'

/** Where systemd looks for units, the first before the second. */
const FOLDERS = ['etc/systemd/system', 'usr/lib/systemd/system']

export interface Unit {
  /** Each value of a key, in order. */
  all(key: string): readonly string[]
  one(key: string): string
}

/** Reads a unit that was installed, as `postrider.service` or `postrider-api@1.service`. */
export function readUnit(bare: Bare, name: string): Unit {
  const instance = /@([^.]*)/.exec(name)?.[1] ?? ''
  const file = FOLDERS.map((folder) => join(bare.folder, folder, name.replace(/@[^.]*/, '@'))).find((one) =>
    existsSync(one),
  )
  if (file === undefined) throw new Error(`there is no unit ${name}`)
  const lines = readFileSync(file, 'utf8').replaceAll('%i', instance).split('\n')
  const all = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
  return { all, one: (key) => all(key).at(-1) ?? '' }
}

/**
 * Starts what a unit starts, as its user, in its folder and with its settings alone. Confinement is systemd's. `sockets`: descriptors by the names of the
 * units of the sockets.
 */
export async function startUnit(
  bare: Bare,
  { name, root, sockets = {} }: { name: string; root: Shell; sockets?: Readonly<Record<string, number>> },
): Promise<Served> {
  const unit = readUnit(bare, name)
  for (const file of unit.all('ConditionPathExists'))
    if (!existsSync(join(bare.folder, file))) throw new Error(`${name} would not start: there is no ${file}`)
  const user = unit.one('User') || 'root'
  const own = unit.all('Sockets')
  const named = own.map((socket) => readUnit(bare, socket).one('FileDescriptorName')).join(':')
  const line = [
    'set -a;',
    ...unit.all('Environment').map((words) => `export ${words};`),
    ...unit.all('EnvironmentFile').map((file) => `. ${file};`),
    ...(own.length > 0 ? [`LISTEN_PID=$$ LISTEN_FDS=${own.length} LISTEN_FDNAMES=${named};`] : []),
    `umask ${unit.one('UMask') || '0022'}; cd ${unit.one('WorkingDirectory') || '/'};`,
    `exec setpriv --reuid=${user} --regid=${user} --init-groups --no-new-privs ${unit.one('ExecStart')}`,
  ]
  return root.serve(
    line.join(' '),
    own.map((socket) => sockets[socket] as number),
  )
}
