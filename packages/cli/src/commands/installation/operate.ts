import { hostname } from 'node:os'
import { type Call, type Command, CommandError, UsageError } from '../../command.ts'
import { firstSteps, isWithoutAccount, local, makeDemoAccount, NO_ACCOUNT, reachable } from '../../first-run.ts'
import { smtpGreeting } from '../../smtp/greeting.ts'

const PROCESSES = ['api', 'relay', 'delivery', 'returns', 'sandbox'] as const
type ProcessName = (typeof PROCESSES)[number]

/** Commands for containers and scripts; on a single machine `up` does the same. */
export const operateCommands: readonly Command[] = [
  {
    name: 'setup',
    usage: '',
    summary: 'Prepare a new installation: its schema and a demo account',
    detail: 'The demo account is created only if there is no account yet, and not with DELIVERY=mx',
    creates: true,
    run: (call) =>
      call.withCore(async (core) => {
        const key = await makeDemoAccount(core, call.config)
        const isEmpty = await isWithoutAccount(core)
        return {
          data: { apiKey: key ?? null },
          text: key
            ? firstSteps(key, call.config)
            : isEmpty
              ? NO_ACCOUNT
              : 'the installation already has accounts; nothing was created',
        }
      }),
  },
  {
    name: 'health',
    usage: '[api|relay|delivery|returns|sandbox]',
    summary: 'Check the health of a process on this host',
    detail: 'The exit status is 0 or 1',
    parameters: { 'api|relay|delivery|returns|sandbox': 'Process (default api)' },
    examples: ['health relay'],
    async run(call) {
      const name = (call.words[0] ?? 'api') as ProcessName
      if (!PROCESSES.includes(name))
        throw new UsageError(`unknown process "${name}"; must be one of ${PROCESSES.join(', ')}`)
      await CHECKS[name](call)
      const aside = name === 'delivery' ? await call.withCore((core) => core.deliveries.setAside()) : []
      const warnings = [
        ...(aside.length > 0 ? [`${aside.length} deliveries are set aside; "postrider message aside" lists them`] : []),
        ...(name === 'returns' && call.config.operatorMail === undefined ? [LETTERS_ARE_KEPT] : []),
      ]
      return {
        data: { process: name, healthy: true, ...(aside.length > 0 ? { setAside: aside.length } : {}) },
        text: [`${name} is healthy`, ...warnings].join('; '),
      }
    },
  },
]

const LETTERS_ARE_KEPT =
  'OPERATOR_MAIL is not set, so letters to abuse@ and postmaster@ are only kept; "postrider returns list --kind letter" lists them'

const CHECKS: Record<ProcessName, (call: Call) => Promise<void>> = {
  api: ({ config }) => requireHttp(`http://${reachable(local(config.apiHost))}:${config.apiPort}/health/ready`),
  sandbox: ({ config }) =>
    requireHttp(`http://${reachable(local(config.sandboxHost))}:${config.sandboxHttpPort}/messages`),
  relay: ({ config }) => requireGreeting(local(config.relayHost), config.relayPort),
  delivery: requireWorker,
  returns: ({ config }) => requireGreeting(local(config.returnsHost), config.returnsPort),
}

async function requireHttp(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  if (response?.ok) return
  const { reasons = [] } = ((await response?.json().catch(() => undefined)) ?? {}) as { reasons?: readonly string[] }
  const state = response ? `status ${response.status}` : 'no response'
  throw new CommandError(
    `health check of ${url} failed (${state}); ${reasons.length > 0 ? reasons.join('; ') : 'see the log of the process'}`,
  )
}

async function requireGreeting(host: string, port: number): Promise<void> {
  const greeting = await smtpGreeting(host, port, 5000)
  if (!greeting?.startsWith('220'))
    throw new CommandError(`health check of ${host}:${port} failed (no SMTP greeting); see the log of the process`)
}

async function requireWorker(call: Call): Promise<void> {
  const lives = await call.withCore((core) => core.deliveries.isAlive(hostname()))
  if (!lives) throw new CommandError('no running delivery worker on this host')
}
