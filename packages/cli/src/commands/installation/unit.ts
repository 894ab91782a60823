import { existsSync, realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { type Command, CommandError } from '../../command.ts'
import { MEMORY } from '../../memory.ts'
import { SETTINGS_FILE, settingsPath } from '../../settings-file.ts'

export const unitCommands: readonly Command[] = [
  {
    name: 'unit',
    usage: '',
    summary: 'Print a systemd unit that runs the installation of this folder',
    detail: `It runs "postrider up" as the user who calls this, with the settings in ${SETTINGS_FILE}`,
    examples: ['unit > postrider.service'],
    run: async ({ env }) => {
      const file = settingsPath(env)
      if (!existsSync(file))
        throw new CommandError(`${resolve(file)} is not there, which the unit would read: run "postrider init" first`)
      const text = unit(file)
      return { data: { unit: text }, text }
    },
  },
]

/** Of one host, with all processes; deploy/systemd has units for several of each. */
function unit(file: string): string {
  const env = Object.entries(MEMORY.env).map(([name, value]) => `${name}=${value}`)
  return `[Unit]
Description=Postrider
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
WorkingDirectory=${process.cwd()}
ExecStart=${[process.execPath, realpathSync(process.argv[1] as string), 'up'].join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Environment=NODE_ENV=production ${env.join(' ')}
EnvironmentFile=${resolve(file)}
User=${userInfo().username}
UMask=0077
LimitNOFILE=65536
Restart=always
RestartSec=1
# Invalid settings: a restart would not help.
RestartPreventExitStatus=78
# Processes finish what they began, for 30 seconds and DRAIN_DELAY; then the database stops.
TimeoutStopSec=90
KillMode=mixed
NoNewPrivileges=yes
ProtectSystem=full
PrivateTmp=yes

[Install]
WantedBy=multi-user.target`
}
