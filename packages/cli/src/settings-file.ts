import { existsSync, statSync } from 'node:fs'

/**
 * The file with the settings of an installation, in the folder that its commands are run in; the Debian package names one for the machine. `postrider
 * init` writes it.
 */
export const SETTINGS_FILE = process.env.POSTRIDER_SETTINGS || 'postrider.env'

/**
 * Adds the settings of {@link SETTINGS_FILE} to the environment, if it is there; a variable that is set stays. Returns why the file is not used, as a
 * sentence: a user who can write to it decides what the service does.
 */
export function loadSettingsFile(file: string = SETTINGS_FILE): string | undefined {
  if (!existsSync(file)) return undefined
  const { uid, mode } = statSync(file)
  const own = process.getuid?.()
  if (own !== undefined && uid !== own && uid !== 0)
    return `${file} is not used: it belongs to another user (uid ${uid}); change its owner, or remove it`
  if ((mode & 0o022) !== 0) return `${file} is not used: others can change it; chmod 600 ${file}`
  process.loadEnvFile(file)
  return undefined
}

/** A line that the shell, systemd (EnvironmentFile=) and Node read alike. Throws an Error for characters that they do not. */
export function settingLine(name: string, value: string): string {
  if (/[\n\r"'`\\$]/.test(value)) throw new Error(`${name} has a character that a file of settings cannot have`)
  return `${name}=${/^[\w@%+=:,./-]*$/.test(value) ? value : `"${value}"`}\n`
}
