import { byOptions, type MailProgram } from './mail-program.ts'
import { EXIM, OPENSMTPD, POSTFIX, SENDMAIL } from './servers.ts'

const NO_LOG = async (): Promise<string> => 'it has no log'

const MSMTP: MailProgram = {
  name: 'msmtp',
  packages: ['msmtp', 'libgsasl18', 'libntlm0', 'libgssglue1', 'libsecret-1-0'],
  hasQueue: false,
  async configure(machine, page) {
    machine.write(
      '/etc/msmtprc',
      page.block('msmtp').replace(/^account default$/m, `${page.text('aliases /etc/aliases')}\n$&`),
    )
    machine.write('/etc/aliases', `${page.text('root: root@example.com')}\n`)
    // As its package msmtp-mta does.
    await machine.shell('ln -sf ../bin/msmtp /usr/sbin/sendmail')
  },
  notifying: byOptions,
  log: NO_LOG,
}

const SSMTP: MailProgram = {
  name: 'ssmtp',
  packages: ['ssmtp', 'libgnutls-openssl27'],
  hasQueue: false,
  configure: (machine, page) => machine.write('/etc/ssmtp/ssmtp.conf', page.block('ssmtp')),
  log: NO_LOG,
}

const DMA: MailProgram = {
  name: 'dma',
  packages: ['dma'],
  hasQueue: true,
  bouncesAtInvalidKey: true,
  async configure(machine, page) {
    machine.write('/etc/dma/dma.conf', page.block('dma'))
    machine.write('/etc/aliases', `${page.text('root: root@example.com')}\n`)
    machine.write('/etc/dma/auth.conf', `${page.text('apikey|relay.example.com:KEY')}\n`, 0o640)
    await machine.shell('chown root:mail /etc/dma/auth.conf')
  },
  flush: (machine) => machine.shell('dma -q'),
  log: (machine) => machine.shell('dma -bp; ls /var/mail'),
}

const NULLMAILER: MailProgram = {
  name: 'nullmailer',
  packages: ['nullmailer'],
  hasQueue: true,
  async configure(machine, page) {
    machine.write('/etc/mailname', page.text('example.com'))
    machine.write('/etc/nullmailer/remotes', page.block('nullmailer'), 0o600)
    machine.write('/etc/nullmailer/pausetime', '1')
    machine.write('/etc/nullmailer/maxpause', '2')
    await machine.shell('chown mail:mail /etc/nullmailer/remotes')
  },
  start: (machine) =>
    machine.shell(
      `[ -p /var/spool/nullmailer/trigger ] || mkfifo -m 600 /var/spool/nullmailer/trigger
       chown mail /var/spool/nullmailer/trigger
       start-stop-daemon --start --background --chuid mail --output /tmp/nullmailer.log --exec /usr/sbin/nullmailer-send`,
    ),
  log: (machine) => machine.shell('tail -n 50 /tmp/nullmailer.log; find /var/spool/nullmailer -type f'),
}

/** In the order of what they need. */
export const PROGRAMS: readonly MailProgram[] = [MSMTP, SSMTP, DMA, NULLMAILER, POSTFIX, EXIM, OPENSMTPD, SENDMAIL]
