import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { misspeltSettings, misspeltText } from '@postrider/core'

/** The file with the settings of an installation, in the folder that its commands are run in. `postrider init` writes it. */
export const SETTINGS_FILE = 'postrider.env'
const MAX_OCTETS = 64 * 1024

type Environment = Readonly<Record<string, string | undefined>>

/** The path of the file; the Debian package names one for the machine. */
export function settingsPath(env: Environment): string {
  return env.POSTRIDER_SETTINGS || SETTINGS_FILE
}

export interface SettingsRead {
  readonly settings: NodeJS.Dict<string>
  /** Why the file must not be used, as a sentence; undefined if it may, or if there is none. */
  readonly problem?: string
}

/**
 * Reads a file of settings. If another user could have written it, that user would decide what the service does: it must be a regular file of this user or
 * of root, which no other can change, and no link to one.
 */
export function readSettings(path: string): SettingsRead {
  const unused = (why: string): SettingsRead => ({ settings: {}, problem: `${path} ${why}` })
  let descriptor: number
  try {
    // A FIFO would wait for its writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { settings: {} }
    if (code === 'ELOOP') return unused('is a symbolic link; put the file itself here')
    return unused(
      code === 'EACCES'
        ? 'cannot be read by this user; use the user whose installation it is'
        : `cannot be read (${code})`,
    )
  }
  try {
    const stat = fstatSync(descriptor)
    const own = process.getuid?.()
    if (!stat.isFile() || stat.size > MAX_OCTETS) return unused('is not a file of settings; remove it')
    if (own !== undefined && stat.uid !== own && stat.uid !== 0)
      return unused(`belongs to another user (uid ${stat.uid}); change its owner, or remove it`)
    if ((stat.mode & 0o022) !== 0) return unused(`can be changed by others; chmod 600 ${path}`)
    const text = readFileSync(descriptor, 'utf8').replace(/^\ufeff/, '')
    const wrong = text.split('\n').findIndex((line) => !/^(?:#|[ \t\r]*$|[A-Za-z_][A-Za-z0-9_]*=)/.test(line))
    if (wrong !== -1) return unused(`has a wrong line ${wrong + 1}: a setting is NAME=VALUE, without blanks`)
    const settings = parseEnv(text)
    const [misspelt] = misspeltSettings(settings)
    return misspelt ? unused(`has a misspelt setting: ${misspeltText(misspelt)}`) : { settings }
  } finally {
    closeSync(descriptor)
  }
}

/** Characters that the shell, systemd (EnvironmentFile=) and Node do not read alike. */
const UNSAFE = /[\s"'`\\$#]/

/** Whether a value can be in the file. */
export function isSafeValue(value: string): boolean {
  return !UNSAFE.test(value)
}

/** The text of the file. The values must be safe. */
export function settingsText(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  return `# Settings of this installation of Postrider, read by "postrider" in this folder; .env.example and docs list all of them.\n${lines.join('')}`
}
