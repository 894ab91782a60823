import { parseArgs } from 'node:util'
import { accept } from './floor/accept.ts'
import { endToEnd } from './floor/end-to-end.ts'
import type { Floor } from './floor/findings.ts'
import { http } from './floor/http.ts'
import { latency } from './floor/latency.ts'
import { stopAll } from './harness/processes.ts'
import { format, median } from './harness/rounds.ts'

const HELP = `node bench/floor.ts [--only PART,PART]

What the lines of the benchmark take at least on what the service is built of, by experiment: smtp-server, Fastify, the service's SMTP client and
Postgres with a table of two columns, beside Postfix or an idle Fastify. Medians of three rounds; µs are processor time per message or call.
As root, in five minutes.

  accept      smtp-server that keeps nothing, and Postgres that stores the octets
  http        Fastify that answers after the commit of a call's body, alone or with three rows more
  end-to-end  a sender that reads, signs, sends and deletes stored messages; and a relay with such a sender
  latency     a message through that relay and sender on an idle machine, with its steps
`

const PARTS: Readonly<Record<string, () => Promise<Floor>>> = { accept, http, 'end-to-end': endToEnd, latency }

process.exitCode = await main()

/** Throws a TypeError that names the argument. */
function readArguments() {
  return parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean', default: false } } }).values
}

async function main(): Promise<number> {
  let values: ReturnType<typeof readArguments>
  try {
    values = readArguments()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnode bench/floor.ts --help lists the options.\n`)
    return 64
  }
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const names = values.only?.split(',') ?? Object.keys(PARTS)
  const unknown = names.find((name) => !PARTS[name])
  if (unknown !== undefined) {
    process.stderr.write(`There is no part ${unknown}; node bench/floor.ts --help lists them.\n`)
    return 64
  }
  const floors: Floor[] = []
  try {
    for (const name of names) {
      const floor = await PARTS[name]?.()
      if (floor) floors.push(floor)
      await stopAll()
    }
  } finally {
    await stopAll()
  }
  for (const { figures, ratios = {} } of floors) {
    for (const { unit, rounds } of figures) {
      for (const [name, found] of Object.entries(rounds))
        process.stdout.write(`${name}: ${format(median(found))} ${unit}\n`)
    }
    for (const [name, ratio] of Object.entries(ratios)) process.stdout.write(`${name}: ${format(ratio)}\n`)
  }
  return 0
}
