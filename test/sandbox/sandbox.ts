import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { type ServiceProcess, startProcess } from '../helpers/processes.ts'
import { CLOSED, SmtpClient } from '../helpers/smtp-client.ts'

export interface Entry {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly receivedAt: string
}

/** A sandbox as a process of its own. */
export interface Sandbox {
  readonly folder: string
  readonly process: ServiceProcess
  readonly url: string
  readonly smtpPort: number
  list(): Promise<Entry[]>
  /** A session after EHLO. */
  session(t: Test, options?: { tls?: boolean }): Promise<SmtpClient>
  /** Takes a message in and answers its entry. */
  store(t: Test, message: string | Buffer, to?: string): Promise<Entry>
}

export async function startSandbox(
  t: Test,
  dataDir = newDataDir(),
  settings: Record<string, string> = {},
): Promise<Sandbox> {
  const [smtp, http] = (await freePorts(2)) as [number, number]
  const process = await startProcess(t, 'sandbox', {
    DATA_DIR: dataDir,
    SANDBOX_SMTP_PORT: String(smtp),
    SANDBOX_HTTP_PORT: String(http),
    ...settings,
  })
  const url = `http://127.0.0.1:${http}`
  const sandbox: Sandbox = {
    folder: join(dataDir, 'inbox'),
    process,
    url,
    smtpPort: smtp,
    list: async () => (await (await fetch(`${url}/messages`)).json()) as Entry[],
    session: (t, options) => openSession(t, smtp, options),
    async store(t, message, to = 'lena@harbor.example') {
      const client = await sandbox.session(t)
      const said = await client.submit('desk@ship.example', to, message)
      const id = /^250 2\.0\.0 Ok: stored as ([0-9a-f]{32})$/.exec(said)?.[1]
      if (id === undefined) throw new Error(`not stored: ${said}`)
      const entry = (await sandbox.list()).find((found) => found.id === id)
      if (!entry) throw new Error(`${id} is not listed`)
      return entry
    },
  }
  return sandbox
}

/** A session with the sandbox on this port, after EHLO. */
export async function openSession(t: Test, port: number, { tls = false } = {}): Promise<SmtpClient> {
  const client = await SmtpClient.connect(t, { port })
  await client.reply()
  await client.command('EHLO client.test')
  if (tls) {
    await client.startTls()
    await client.command('EHLO client.test')
  }
  return client
}

/** RCPT, and where that is accepted the message: every reply to them until the message is accepted or refused. */
export async function offer(client: SmtpClient, from: string, to: string): Promise<string> {
  await client.command(`MAIL FROM:<${from}>`)
  const said = await client.command(`RCPT TO:<${to}>`)
  if (!said.startsWith('250')) {
    if (said !== CLOSED && !said.startsWith('421')) await client.command('RSET')
    return said
  }
  await client.command('DATA')
  return client.finish(mail('Subject: Berth 4'))
}

export function newDataDir(): string {
  return mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'sandbox-'))
}

/** A message with these header fields. */
export function mail(fields: string, body = 'It works.\r\n'): string {
  return `From: desk@ship.example\r\nTo: lena@harbor.example\r\n${fields}\r\n\r\n${body}`
}
