import { byOptions, type MailProgram } from './mail-program.ts'

/** As the scripts of their packages do; the user may exist on this machine. */
const user = (name: string): string =>
  `getent passwd ${name} >/dev/null || useradd --system --no-create-home --badname --user-group --shell /usr/sbin/nologin ${name}`

export const POSTFIX: MailProgram = {
  name: 'Postfix',
  packages: ['postfix', 'libsasl2-2', 'libsasl2-modules'],
  hasQueue: true,
  quotesRecipients: true,
  async configure(machine, page) {
    const debian = machine.read('/usr/share/postfix/main.cf.debian')
    machine.write(
      '/etc/postfix/main.cf',
      `${debian}
myhostname = ${machine.host}
mydestination = $myhostname, localhost
alias_maps = hash:/etc/aliases
alias_database = hash:/etc/aliases
${page.block('Postfix')}
# Of the test: it knows the relay by /etc/hosts, and has no time.
smtp_host_lookup = native
inet_protocols = ipv4
maillog_file = /var/log/mail.log
minimal_backoff_time = 2s
maximal_backoff_time = 2s
queue_run_delay = 2s
`,
    )
    machine.write('/etc/postfix/sasl_passwd', `${page.text('[relay.example.com]:2525 apikey:KEY')}\n`, 0o600)
    machine.write('/etc/postfix/generic', page.text('@HOSTNAME @example.com').replace('HOSTNAME', machine.host))
    machine.write('/etc/aliases', `${page.text('root: root@example.com')}\n`)
    await machine.shell('newaliases; postmap /etc/postfix/sasl_passwd /etc/postfix/generic')
    await machine.shell('[ ! -e /var/spool/postfix/pid/master.pid ] || postfix reload')
  },
  async prepare(machine) {
    await machine.shell(`${user('postfix')}; getent group postdrop >/dev/null || groupadd --system postdrop`)
    const services = machine.read('/usr/share/postfix/master.cf.dist')
    // It takes mail by its command only.
    machine.write('/etc/postfix/master.cf', services.replace(/^smtp +inet /m, '#$&'))
  },
  async start(machine) {
    await machine.shell('postfix set-permissions || true; /usr/lib/postfix/configure-instance.sh -; postfix start')
  },
  flush: (machine) => machine.shell('postqueue -f'),
  notifying: byOptions,
  log: (machine) => machine.shell('postqueue -p; tail -n 40 /var/log/mail.log'),
}

export const EXIM: MailProgram = {
  name: 'Exim',
  packages: ['exim4-config', 'exim4-base', 'exim4-daemon-light', 'libgnutls-dane0'],
  hasQueue: true,
  async prepare(machine) {
    await machine.shell(
      `${user('Debian-exim')}
       install -d -o Debian-exim -g adm -m 2750 /var/log/exim4
       for name in /run/exim4 /var/spool/exim4 /var/spool/exim4/db /var/spool/exim4/input /var/spool/exim4/msglog
       do install -d -o Debian-exim -g Debian-exim -m 750 $name; done
       mkdir -p /var/lib/exim4
       # Of the test: NOTIFY has to come in, and the relay is on this machine.
       sed -i '1i dsn_advertise_hosts = *' /etc/exim4/exim4.conf.template
       sed -i 's/^  route_list = . DCsmarthost byname$/&\\n  self = send/' /etc/exim4/exim4.conf.template`,
    )
  },
  async configure(machine, page) {
    machine.write(
      '/etc/exim4/update-exim4.conf.conf',
      `${page.text("dc_eximconfig_configtype='smarthost'")}
dc_other_hostnames=''
dc_local_interfaces='127.0.0.1'
dc_readhost=''
dc_relay_domains=''
dc_minimaldns='false'
dc_relay_nets=''
${page.text("dc_smarthost='relay.example.com::2525'")}
CFILEMODE='644'
dc_use_split_config='false'
dc_hide_mailname='false'
dc_mailname_in_oh='true'
dc_localdelivery='mail_spool'
`,
    )
    machine.write('/etc/mailname', `${page.text('example.com')}\n`)
    machine.write('/etc/exim4/exim4.conf.localmacros', page.block('Exim (Debian)'))
    machine.write('/etc/exim4/passwd.client', `${page.text('relay.example.com:apikey:KEY')}\n`, 0o640)
    await machine.shell('chown root:Debian-exim /etc/exim4/passwd.client; update-exim4.conf')
  },
  flush: (machine) => machine.shell('exim4 -qff'),
  // Its command has no option for it; it takes the parameters of SMTP.
  notifying: ({ from, to, message }) => ({
    args: ['-bs'],
    input: [
      'EHLO localhost',
      `MAIL FROM:<${from}> RET=FULL`,
      ...to.map((address) => `RCPT TO:<${address}> NOTIFY=SUCCESS,FAILURE`),
      'DATA',
      `${message.replace(/^\./gm, '..')}.`,
      'QUIT',
      '',
    ].join('\n'),
  }),
  log: (machine) => machine.shell('exim4 -bp; tail -n 40 /var/log/exim4/*'),
}

/** It answers a second after it has gone to the background. */
const SMTPD = 'smtpd; for n in $(seq 50); do ! smtpctl show status >/dev/null 2>&1 || break; sleep 0.2; done'

export const OPENSMTPD: MailProgram = {
  name: 'OpenSMTPD',
  packages: ['opensmtpd', 'libevent-2.1-7'],
  hasQueue: true,
  async prepare(machine) {
    await machine.shell(
      `${user('opensmtpd')}; ${user('opensmtpq')}; mkdir -p /var/empty /usr/local/share/ca-certificates`,
    )
    await machine.shell('chgrp opensmtpq /usr/sbin/smtpctl; chmod 2555 /usr/sbin/smtpctl')
    machine.write('/usr/local/share/ca-certificates/postrider.crt', machine.read('/etc/postrider.pem'))
    await machine.shell('update-ca-certificates')
  },
  async configure(machine, page) {
    machine.write('/etc/mailname', `${page.text('example.com')}\n`)
    machine.write('/etc/aliases', '')
    machine.write('/etc/smtpd.secrets', `${page.text('postrider apikey:KEY')}\n`, 0o640)
    machine.write('/etc/smtpd.conf', page.block('OpenSMTPD'))
    await machine.shell(
      `chown root:opensmtpd /etc/smtpd.secrets
       if [ -e /tmp/started ]; then start-stop-daemon --stop --quiet --retry 10 --exec /usr/sbin/smtpd; ${SMTPD}; fi`,
    )
  },
  start: (machine) => machine.shell(`${SMTPD}; touch /tmp/started`),
  flush: (machine) => machine.shell('smtpctl schedule all || true'),
  log: (machine) => machine.shell('smtpctl show queue'),
}

export const SENDMAIL: MailProgram = {
  name: 'Sendmail',
  packages: [
    'sendmail-base',
    'sendmail-cf',
    'sendmail-bin',
    'm4',
    'libwrap0',
    'liblockfile1',
    'libsasl2-2',
    'libsasl2-modules',
  ],
  hasQueue: true,
  async prepare(machine) {
    // Its command sends to a server at port 25, which is not started: it would be that of this machine, too.
    machine.write('/usr/sbin/sendmail', '#!/bin/sh\nexec /usr/libexec/sendmail/sendmail -Am "$@"\n', 0o755)
    await machine.shell(
      `${user('smmta')}; ${user('smmsp')}
       rm -f /etc/mail/sendmail.mc; ln -sf ../aliases /etc/mail/aliases
       mkdir -p /etc/mail /run/sendmail/mta /var/lib/sendmail/host_status; chmod 755 /etc/mail
        chown smmta:smmsp /var/spool/mqueue; chmod 2750 /var/spool/mqueue`,
    )
  },
  async configure(machine, page) {
    machine.write(
      '/etc/mail/sendmail.mc',
      `divert(0)dnl
OSTYPE(\`debian')dnl
DOMAIN(\`debian-mta')dnl
${page.block('Sendmail')}
define(\`confDONT_PROBE_INTERFACES', \`True')dnl of the test: the relay is on this machine, and there is no DNS
FEATURE(\`nocanonify')dnl
FEATURE(\`accept_unresolvable_domains')dnl
MAILER_DEFINITIONS
MAILER(\`local')dnl
MAILER(\`smtp')dnl
`,
    )
    machine.write('/etc/mail/local-host-names', `${machine.host}\nlocalhost\n`)
    machine.write('/etc/aliases', `${page.text('root: root@example.com')}\n`)
    machine.write(
      '/etc/mail/authinfo',
      `${page.text('AuthInfo:relay.example.com "U:apikey" "I:apikey" "P:KEY" "M:PLAIN"')}\n`,
      0o600,
    )
    await machine.shell(
      `cd /etc/mail
       m4 -D_CF_DIR_=/usr/share/sendmail/cf/ /usr/share/sendmail/cf/m4/cf.m4 sendmail.mc >sendmail.cf
       makemap hash authinfo <authinfo
       sendmail -bi`,
    )
  },
  // It tries a host that was away again after half an hour, unless that is forgotten.
  flush: (machine) => machine.shell('rm -rf /var/lib/sendmail/host_status/*; sendmail -q'),
  notifying: byOptions,
  log: (machine) => machine.shell('sendmail -bp; tail -n 30 /var/spool/mqueue/q* || true'),
}
