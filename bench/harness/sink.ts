import { canConnect, freePort, type Running, start, until } from './processes.ts'

/** Debian's smtp-sink: takes all mail, counts it, keeps nothing. */
export interface SmtpSink {
  readonly port: number
  /** Messages taken so far. */
  count(): number
  stop(): Promise<void>
}

/** `delay`: seconds it waits before it answers DATA. */
export async function startSmtpSink({ host = '127.0.0.1', port: given = 0, delay = 0 } = {}): Promise<SmtpSink> {
  const port = given || (await freePort())
  let count = 0
  let tail = ''
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const slow = delay > 0 ? ['-w', String(delay)] : []
  // Its own limit is 256 connections; others would wait until one is closed.
  const many = ['-m', '4000']
  const running: Running = await start('smtp-sink', ['-c', ...many, ...user, ...slow, `${host}:${port}`, '1000'], {
    output(text) {
      tail = (tail + text).slice(-200)
      const counts = [...tail.matchAll(/mesg=(\d+)[^\d]/g)]
      count = Number(counts.at(-1)?.[1] ?? count)
    },
  })
  await until('smtp-sink', () => canConnect(host, port), { seconds: 10 })
  return { port, count: () => count, stop: () => running.stop() }
}
