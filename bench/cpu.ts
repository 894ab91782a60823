import { readdirSync, readFileSync } from 'node:fs'
import { smtpSource } from './harness/load.ts'
import { stopAll, until } from './harness/processes.ts'
import { openService } from './harness/service.ts'
import { startSmtpSink } from './harness/sink.ts'

/** Who uses the processor on a message's way: microseconds a message, end to end, by process. `node bench/cpu.ts` */
const MESSAGES = 6000
/** Linux counts processor time in hundredths of a second. */
const TICK_US = 10_000

function processorTime(): Map<string, number> {
  const times = new Map<string, number>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const name = /packages\/(relay|delivery)/.exec(command)?.[1] ?? /^postgres|smtp-s(?:ink|ource)/.exec(command)?.[0]
      if (!name) continue
      // The name of the program may hold blanks; the numbers stand behind its bracket.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      times.set(name, (times.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) * TICK_US)
    } catch {
      // It has just ended.
    }
  }
  return times
}

try {
  const sink = await startSmtpSink()
  const service = await openService()
  await service.start('relay')
  await service.start('delivery', { sinkPort: sink.port })
  const load = { port: service.relayPort, from: `desk@${service.domain}`, sessions: 50, octets: 10_000, kept: true }
  for (const messages of [MESSAGES / 3, MESSAGES]) {
    const [arrived, before, began] = [sink.count(), processorTime(), performance.now()]
    await smtpSource(load, messages)
    await until('the last message', () => sink.count() - arrived >= messages)
    const seconds = (performance.now() - began) / 1000
    const after = processorTime()
    await service.drained(messages)
    process.stdout.write(`${Math.round(messages / seconds)} messages/s; µs a message:`)
    for (const [name, time] of after) {
      process.stdout.write(` ${name} ${Math.round((time - (before.get(name) ?? 0)) / messages)},`)
    }
    process.stdout.write('\n')
  }
  await service.close()
  await sink.stop()
} finally {
  await stopAll()
}
