import { connect } from 'node:net'
import { hostname } from 'node:os'
import { type Call, type Command, CommandError, UsageError } from '../command.ts'
import { firstSteps, makeDemoAccount, reachable } from '../first-run.ts'

const PROCESSES = ['api', 'relay', 'delivery', 'sandbox'] as const
type ProcessName = (typeof PROCESSES)[number]

/** For containers and scripts: what `up` does by itself on one machine. */
export const operateCommands: readonly Command[] = [
  {
    name: 'setup',
    usage: '',
    summary: 'prepare a new installation: schema, and a demo account where there is no account yet',
    options: {},
    run: (call) =>
      call.withCore(async (core) => {
        const key = await makeDemoAccount(core)
        return {
          data: { apiKey: key ?? null },
          text: key ? firstSteps(key, call.config) : 'the installation has accounts already; nothing was made',
        }
      }),
  },
  {
    name: 'health',
    usage: '[api|relay|delivery|sandbox]',
    summary: 'does the process of this host work? Exit status 0 or 1; for container health checks',
    words: 1,
    options: {},
    async run(call) {
      const name = (call.words[0] ?? 'api') as ProcessName
      if (!PROCESSES.includes(name))
        throw new UsageError(`there is no process "${name}"; there are ${PROCESSES.join(', ')}`)
      await CHECKS[name](call)
      const aside = name === 'delivery' ? await call.withCore((core) => core.deliveries.setAside()) : []
      const warning = `${aside.length} deliveries are set aside, see "postrider message aside"`
      return {
        data: { process: name, healthy: true, ...(aside.length > 0 ? { setAside: aside.length } : {}) },
        text: aside.length > 0 ? `${name} works; ${warning}` : `${name} works`,
      }
    },
  },
]

const CHECKS: Record<ProcessName, (call: Call) => Promise<void>> = {
  api: ({ config }) => answersHttp(`http://${reachable(local(config.apiHost))}:${config.apiPort}/health/ready`),
  sandbox: ({ config }) =>
    answersHttp(`http://${reachable(local(config.sandboxHost))}:${config.sandboxHttpPort}/messages`),
  relay: ({ config }) => greets(local(config.relayHost), config.relayPort),
  delivery: workerLives,
}

/** A process in a container listens on every address; it is asked on loopback. */
function local(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
}

async function answersHttp(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  if (!response?.ok)
    throw new CommandError(`no good answer at ${url}${response ? `: ${response.status}` : ''}; its log says why`)
}

async function greets(host: string, port: number): Promise<void> {
  const greeting = await new Promise<string>((resolve) => {
    const socket = connect({ host, port, timeout: 5000 })
    const done = (text: string) => {
      resolve(text)
      socket.destroy()
    }
    socket.once('data', (octets) => done(octets.toString()))
    socket.once('timeout', () => done(''))
    socket.once('error', () => done(''))
  })
  if (!greeting.startsWith('220')) throw new CommandError(`no SMTP greeting at ${host}:${port}; its log says why`)
}

async function workerLives(call: Call): Promise<void> {
  const lives = await call.withCore((core) => core.deliveries.isAlive(hostname()))
  if (!lives) throw new CommandError('no delivery worker of this host holds its lease')
}
